// Winograd's convolution F(4 x 4, 3 x 3) on channels in blocks of eight.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/winograd.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/winograd.h"

#ifndef INGOT_ENGINE_WINOGRAD_TILE
#define INGOT_ENGINE_WINOGRAD_TILE  // this file is compiled once per kind of CPU
namespace ingot::engine {

constexpr std::int64_t kChannels = 8;  // of a block
constexpr int kIn = 6, kOut = 4;       // a tile's height and width

/// Where a tile is in a plane of [height, width, 8] floats; parts of it may be outside.
struct PlaneTile {
  std::int64_t height, width, y, x;
};

}  // namespace ingot::engine
#endif

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::CappedTag<float, 8> d;
using V = hn::Vec<decltype(d)>;

/// One row or column of the transform of the input: 4, 0, -5, 0, 1, 0 / 0, -4, -4, 1, 1, 0 / ...
HWY_INLINE void transform_line(const V* in, std::int64_t step, V* out, std::int64_t out_step) {
  const V two = hn::Set(d, 2.0f), four = hn::Set(d, 4.0f), five = hn::Set(d, 5.0f);
  const V d0 = in[0], d1 = in[step], d2 = in[2 * step], d3 = in[3 * step], d4 = in[4 * step], d5 = in[5 * step];
  const V even = hn::NegMulAdd(four, d2, d4), odd = hn::NegMulAdd(four, d1, d3);
  const V near = hn::Sub(d4, d2), far = hn::Mul(two, hn::Sub(d3, d1));
  out[0] = hn::MulAdd(four, d0, hn::NegMulAdd(five, d2, d4));
  out[out_step] = hn::Add(even, odd);
  out[2 * out_step] = hn::Sub(even, odd);
  out[3 * out_step] = hn::Add(near, far);
  out[4 * out_step] = hn::Sub(near, far);
  out[5 * out_step] = hn::MulAdd(four, d1, hn::NegMulAdd(five, d3, d5));
}

/// One tile of eight channels: element (i, j) of its transform goes to out + (6 * i + j) * stride.
void transform_input(const float* plane, const PlaneTile& t, float* out, std::int64_t stride) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const bool is_inside = t.y >= 0 && t.x >= 0 && t.y + kIn <= t.height && t.x + kIn <= t.width;
  for (std::int64_t part = 0; part < kChannels; part += lanes) {
    V in[kIn * kIn], half[kIn * kIn];
    for (int i = 0; i < kIn; ++i)
      for (int j = 0; j < kIn; ++j) {
        const std::int64_t y = t.y + i, x = t.x + j;
        const bool is_there = is_inside || (y >= 0 && x >= 0 && y < t.height && x < t.width);
        in[i * kIn + j] = is_there ? hn::LoadU(d, plane + (y * t.width + x) * kChannels + part) : hn::Zero(d);
      }
    for (int j = 0; j < kIn; ++j) transform_line(in + j, kIn, half + j, kIn);
    for (int i = 0; i < kIn; ++i) transform_line(half + i * kIn, 1, in + i * kIn, 1);
    for (int k = 0; k < kIn * kIn; ++k) hn::StoreU(in[k], d, out + k * stride + part);
  }
}

/// One row or column of the way back: six sums make four results.
HWY_INLINE void result_line(const V* in, std::int64_t step, V* out, std::int64_t out_step) {
  const V two = hn::Set(d, 2.0f), four = hn::Set(d, 4.0f), eight = hn::Set(d, 8.0f);
  const V sum1 = hn::Add(in[step], in[2 * step]), away1 = hn::Sub(in[step], in[2 * step]);
  const V sum2 = hn::Add(in[3 * step], in[4 * step]), away2 = hn::Sub(in[3 * step], in[4 * step]);
  out[0] = hn::Add(hn::Add(in[0], sum1), sum2);
  out[out_step] = hn::MulAdd(two, away2, away1);
  out[2 * out_step] = hn::MulAdd(four, sum2, sum1);
  out[3 * out_step] = hn::Add(hn::MulAdd(eight, away2, away1), in[5 * step]);
}

/// One tile of eight channels of the result; element k of its transform is at sums + k * stride.
void transform_result(const float* sums, std::int64_t stride, const PlaneTile& t, float* plane,
                      const BlockedEpilogue& e) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V low = hn::Set(d, e.low), high = hn::Set(d, e.high);
  for (std::int64_t part = 0; part < kChannels; part += lanes) {
    V in[kIn * kIn], half[kOut * kIn], out[kOut * kOut];
    for (int k = 0; k < kIn * kIn; ++k) in[k] = hn::LoadU(d, sums + k * stride + part);
    for (int j = 0; j < kIn; ++j) result_line(in + j, kIn, half + j, kIn);
    for (int i = 0; i < kOut; ++i) result_line(half + i * kIn, 1, out + i * kOut, 1);
    const V bias = e.bias ? hn::LoadU(d, e.bias + part) : hn::Zero(d);
    for (int i = 0; i < kOut && t.y + i < t.height; ++i)
      for (int j = 0; j < kOut && t.x + j < t.width; ++j) {
        const std::int64_t at = ((t.y + i) * t.width + t.x + j) * kChannels + part;
        V y = hn::Add(out[i * kOut + j], bias);
        if (e.residual) y = hn::Add(y, hn::LoadU(d, e.residual + at));
        // Written so that NaN passes both comparisons.
        y = hn::IfThenElse(hn::Lt(y, low), low, y);
        y = hn::IfThenElse(hn::Gt(y, high), high, y);
        hn::StoreU(y, d, plane + at);
      }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>

#include "ingot/base/mapped_file.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/direct.h"
#include "ingot/engine/kernels/gemm.h"

namespace ingot::engine {
namespace {

HWY_EXPORT(transform_input);
HWY_EXPORT(transform_result);

constexpr std::int64_t kElements = kIn * kIn;
constexpr std::int64_t kTilesAtOnce = 96;   // whose transforms are held together
constexpr std::int64_t kTilesOfPiece = 48;  // of those, in one piece of work,
constexpr std::int64_t kGroup = 64;         // with so many output channels

/// The transform of a filter: rows 1/4, 0, 0 / -1/6, -1/6, -1/6 / -1/6, 1/6, -1/6 / 1/24, 1/12, 1/6 / ...
void transform_filter_line(const float* g, int step, float* out, int out_step) {
  const float ends = (g[0] + g[2 * step]) / -6.0f, middle = g[step] / 6.0f;
  const float far_ends = g[0] / 24.0f + g[2 * step] / 6.0f, far_middle = g[step] / 12.0f;
  out[0] = g[0] / 4.0f;
  out[out_step] = ends - middle;
  out[2 * out_step] = ends + middle;
  out[3 * out_step] = far_ends + far_middle;
  out[4 * out_step] = far_ends - far_middle;
  out[5 * out_step] = g[2 * step];
}

std::int64_t tiles_along(std::int64_t size) { return (size + kOut - 1) / kOut; }

}  // namespace

BlockedEpilogue::BlockedEpilogue()
    : low(-std::numeric_limits<float>::infinity()), high(std::numeric_limits<float>::infinity()) {}

struct Winograd::State {
  Tensor weights;
  std::vector<float> factor;
  std::int64_t out, in;
  std::once_flag flag;
  std::vector<PackedMatrix> packed;  // by group of output channels and element of the transform

  std::int64_t groups() const { return (out + kGroup - 1) / kGroup; }
  void pack(std::int64_t group);
};

bool Winograd::is_for(std::int64_t in_channels, std::int64_t out_channels, std::int64_t out_height,
                      std::int64_t out_width) {
  // Small planes waste most of their tiles, few channels do not pay for the transforms.
  constexpr std::int64_t kLeast = 32, kSide = 12;
  if (in_channels < kLeast || out_channels < kLeast || out_height < kSide || out_width < kSide) return false;
  if (!DirectConvolution::has_registers()) return true;
  // The transformed weights are four times as many: few tiles do not pay for reading them.
  constexpr std::int64_t kMany = 128, kSome = 48, kLargePlane = 400;
  return out_channels >= kSome && in_channels >= (out_height * out_width < kLargePlane ? kMany : kSome);
}

Winograd::Winograd(Tensor weights, std::vector<float> factor) : state_(std::make_unique<State>()) {
  state_->out = weights.dims()[0];
  state_->in = weights.dims()[1];
  state_->weights = std::move(weights);
  state_->factor = std::move(factor);
}

Winograd::~Winograd() = default;

void Winograd::State::pack(std::int64_t group) {
  const std::int64_t first = group * kGroup, count = std::min(kGroup, out - first);
  const std::int64_t size = in * count;
  std::vector<float> transformed(static_cast<std::size_t>(kElements * size));
  constexpr int kSide = 3;
  float filter[kSide * kSide], half[kIn * kSide], whole[kElements];
  for (std::int64_t o = 0; o < count; ++o) {
    const float by = factor.empty() ? 1.0f : factor[static_cast<std::size_t>(first + o)];
    for (std::int64_t i = 0; i < in; ++i) {
      const auto at = static_cast<std::size_t>((first + o) * in + i) * sizeof filter;
      std::memcpy(filter, weights.bytes().data() + at, sizeof filter);
      for (float& value : filter) value *= by;
      for (int j = 0; j < kSide; ++j) transform_filter_line(filter + j, kSide, half + j, kSide);
      for (int k = 0; k < kIn; ++k) transform_filter_line(half + k * kSide, 1, whole + k * kIn, 1);
      for (std::int64_t k = 0; k < kElements; ++k)
        transformed[static_cast<std::size_t>(k * size + i * count + o)] = whole[k];
    }
  }
  for (std::int64_t k = 0; k < kElements; ++k)
    packed[static_cast<std::size_t>(group * kElements + k)] =
        PackedMatrix(transformed.data() + k * size, in, count, count, 1);
}

void Winograd::prepare(ThreadPool& pool, const Budget& budget) const {
  State& s = *state_;
  std::call_once(s.flag, [&] {
    s.packed.resize(static_cast<std::size_t>(s.groups() * kElements));
    pool.parallel_for(s.groups(), 1, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t group = begin; group < end; ++group) s.pack(group);
    });
    drop_pages(s.weights.bytes());
    s.weights = {};
  });
}

std::int64_t Winograd::room_size(const Image& image) const {
  const std::int64_t tiles = tiles_along(image.out_height) * tiles_along(image.out_width);
  return kElements * std::min(tiles, kTilesAtOnce) * state_->in;
}

void Winograd::run(const float* x, const Image& image, float* y, const BlockedEpilogue& epilogue, float* room,
                   ThreadPool& pool, const Budget& budget) const {
  prepare(pool, budget);
  const State& s = *state_;
  const std::int64_t across = tiles_along(image.out_width), all = tiles_along(image.out_height) * across;
  const std::int64_t in_plane = image.height * image.width, out_plane = image.out_height * image.out_width;
  const auto to_input = HWY_DYNAMIC_DISPATCH(transform_input);
  const auto to_result = HWY_DYNAMIC_DISPATCH(transform_result);
  for (std::int64_t start = 0; start < all; start += kTilesAtOnce) {
    const std::int64_t tiles = std::min(kTilesAtOnce, all - start), stride = tiles * s.in;
    constexpr std::int64_t kSome = 8;  // tiles of one piece of the first half
    pool.parallel_for(tiles, kSome, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t block = 0; block < s.in / kChannels; ++block)
        for (std::int64_t t = begin; t < end; ++t) {
          const std::int64_t row = (start + t) / across, column = (start + t) % across;
          const PlaneTile tile{image.height, image.width, row * kOut - image.top, column * kOut - image.left};
          to_input(x + block * kChannels * in_plane, tile, room + t * s.in + block * kChannels, stride);
        }
    });
    const std::int64_t pieces = (tiles + kTilesOfPiece - 1) / kTilesOfPiece;
    pool.parallel_for(pieces * s.groups(), 1, [&](std::int64_t begin, std::int64_t end) {
      thread_local std::vector<float> sums;
      sums.resize(static_cast<std::size_t>(kElements * kTilesOfPiece * kGroup));
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t group = i / pieces, first = i % pieces * kTilesOfPiece;
        const std::int64_t count = std::min(kTilesOfPiece, tiles - first);
        const std::int64_t channels = std::min(kGroup, s.out - group * kGroup), size = count * channels;
        for (std::int64_t k = 0; k < kElements; ++k)
          multiply(room + k * stride + first * s.in, count, s.in,
                   s.packed[static_cast<std::size_t>(group * kElements + k)], sums.data() + k * size, channels, {},
                   pool, budget);
        for (std::int64_t block = 0; block < channels / kChannels; ++block) {
          const std::int64_t channel = group * kGroup + block * kChannels;
          BlockedEpilogue here = epilogue;
          if (here.bias) here.bias += channel;
          if (here.residual) here.residual += channel * out_plane;
          for (std::int64_t t = 0; t < count; ++t) {
            const std::int64_t row = (start + first + t) / across, column = (start + first + t) % across;
            const PlaneTile tile{image.out_height, image.out_width, row * kOut, column * kOut};
            to_result(sums.data() + t * channels + block * kChannels, size, tile, y + channel * out_plane, here);
          }
        }
      }
    });
  }
}

}  // namespace ingot::engine
#endif
