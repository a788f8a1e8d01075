// Convolutions of each channel for itself on channels in blocks of eight: two positions of a row in one register.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/depthwise_pairs.cpp"
// What it is made for is tested in debug builds, too; nothing else is worth the time to compile it.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3_DL)
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/depthwise_pairs.h"

#include <algorithm>

#ifndef INGOT_ENGINE_PAIR_ROWS
#define INGOT_ENGINE_PAIR_ROWS  // this file is compiled once per kind of CPU
namespace ingot::engine {

/// Neighbouring results of some rows. What their filters meet along a row is there; of the rows some may not be.
struct PairRows {
  const float* x;                 // the first row that is there, at what the first filter's first column meets
  std::int64_t width, height;     // floats from row to row, and rows that are there
  std::int64_t top;               // the row that the first filter begins with, counted from there
  std::int64_t count, stride;     // rows of results, and rows from one filter to the next
  std::int64_t dilation, x_step;  // from row to row of a filter, and floats to its next column or pair of columns
  const float* weights;           // a pair of blocks for each column or pair of columns
  std::int64_t weights_row;
  std::int64_t rows, columns;  // of a filter
  float* y;
  std::int64_t y_row;
  const float* bias;      // or null
  const float* residual;  // or null
  float low, high;

  /// The rows of a filter that meet something.
  struct Met {
    std::int64_t first, last;
  };
  Met met(std::int64_t from) const {
    if (from >= 0 && from + (rows - 1) * dilation < height) return {0, rows};
    const std::int64_t first = from >= 0 ? 0 : std::min(rows, (dilation - 1 - from) / dilation);
    return {first, from >= height ? first : std::clamp((height - 1 - from) / dilation + 1, first, rows)};
  }
};

}  // namespace ingot::engine
#endif

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3
const hn::FixedTag<float, 16> d;
const hn::FixedTag<float, 8> half;
using V = hn::Vec<decltype(d)>;
using H = hn::Vec<decltype(half)>;

/// Of two operands of which one is NaN, this CPU takes the second.
template <class T> HWY_INLINE T limited(T y, T low, T high) { return hn::Min(high, hn::Max(low, y)); }

/// The sums of R registers over a filter with rows of K elements (0: as many as are told). Where filters lie side by
/// side, both halves meet the same element; else the lower one meets the even columns and the upper one the odd ones,
/// of which the last may be missing: it must not meet what stands there.
template <int R, int K, bool kIsDense> HWY_INLINE void add_up(const PairRows& p, std::int64_t from, V (&sum)[R]) {
  HWY_UNROLL(8)
  for (int r = 0; r < R; ++r) sum[r] = hn::Zero(d);
  const auto met = p.met(from);
  for (std::int64_t i = met.first; i < met.last; ++i) {
    const float* HWY_RESTRICT x = p.x + (from + i * p.dilation) * p.width;
    const float* HWY_RESTRICT w = p.weights + i * p.weights_row;
    const auto add = [&](const float* HWY_RESTRICT at, const float* HWY_RESTRICT pair) {
      const V weight = hn::LoadU(d, pair);
      HWY_UNROLL(8)
      for (int r = 0; r < R; ++r) sum[r] = hn::MulAdd(hn::LoadU(d, at + r * 16), weight, sum[r]);
    };
    const auto add_half = [&](const float* HWY_RESTRICT at, const float* HWY_RESTRICT pair) {
      const V weight = hn::LoadU(d, pair);
      HWY_UNROLL(8)
      for (int r = 0; r < R; ++r)
        sum[r] = hn::MulAdd(hn::ZeroExtendVector(d, hn::LoadU(half, at + r * 16)), weight, sum[r]);
    };
    if constexpr (K == 0) {
      const std::int64_t whole = kIsDense ? p.columns : p.columns / 2;
      for (std::int64_t k = 0; k < whole; ++k) add(x + k * p.x_step, w + k * 16);
      if (!kIsDense && p.columns % 2 != 0) add_half(x + whole * p.x_step, w + whole * 16);
    } else {
      constexpr int kWhole = kIsDense ? K : K / 2, kStep = kIsDense ? 8 : 16;
      HWY_UNROLL(8)
      for (int k = 0; k < kWhole; ++k) add(x + k * kStep, w + k * 16);
      if constexpr (!kIsDense && K % 2 != 0) add_half(x + kWhole * kStep, w + kWhole * 16);
    }
  }
}

/// R registers of two results each, of which the last may have one.
template <int R, int K> HWY_INLINE void neighbours(const PairRows& p, bool is_odd) {
  const V low = hn::Set(d, p.low), high = hn::Set(d, p.high);
  const V bias = p.bias ? hn::Combine(d, hn::LoadU(half, p.bias), hn::LoadU(half, p.bias)) : hn::Zero(d);
  for (std::int64_t row = 0; row < p.count; ++row) {
    V sum[R];
    add_up<R, K, true>(p, p.top + row * p.stride, sum);
    float* const y = p.y + row * p.y_row;
    const float* const residual = p.residual ? p.residual + row * p.y_row : nullptr;
    HWY_UNROLL(8)
    for (int r = 0; r < R; ++r) {
      const bool is_half = r + 1 == R && is_odd;
      V result = hn::Add(sum[r], bias);
      if (residual) {
        const float* at = residual + r * 16;
        result = hn::Add(result, is_half ? hn::ZeroExtendVector(d, hn::LoadU(half, at)) : hn::LoadU(d, at));
      }
      result = limited(result, low, high);
      if (is_half)
        hn::StoreU(hn::LowerHalf(half, result), half, y + r * 16);
      else
        hn::StoreU(result, d, y + r * 16);
    }
  }
}

/// R results whose filters lie two positions apart: each register has the sums of the even columns and of the odd ones.
template <int R, int K> HWY_INLINE void every_other(const PairRows& p) {
  const H low = hn::Set(half, p.low), high = hn::Set(half, p.high);
  const H bias = p.bias ? hn::LoadU(half, p.bias) : hn::Zero(half);
  for (std::int64_t row = 0; row < p.count; ++row) {
    V sum[R];
    add_up<R, K, false>(p, p.top + row * p.stride, sum);
    float* const y = p.y + row * p.y_row;
    const float* const residual = p.residual ? p.residual + row * p.y_row : nullptr;
    HWY_UNROLL(8)
    for (int r = 0; r < R; ++r) {
      H result = hn::Add(hn::Add(hn::LowerHalf(half, sum[r]), hn::UpperHalf(half, sum[r])), bias);
      if (residual) result = hn::Add(result, hn::LoadU(half, residual + r * 8));
      hn::StoreU(limited(result, low, high), half, y + r * 8);
    }
  }
}

template <int R, int K, bool kIsDense> HWY_NOINLINE void tile(const PairRows& p, bool is_odd) {
  if constexpr (kIsDense)
    neighbours<R, K>(p, is_odd);
  else
    every_other<R, K>(p);
}

template <int R, int K, bool kIsDense> HWY_INLINE void tile_of(const PairRows& p, std::int64_t count, bool is_odd) {
  if (count == R) return tile<R, K, kIsDense>(p, is_odd);
  if constexpr (R > 1) tile_of<R - 1, K, kIsDense>(p, count, is_odd);
}

/// Rows in tiles of nearly equal widths: a narrow one would wait for its own sums.
template <int K, bool kIsDense> void tiles_of(PairRows p, std::int64_t count) {
  constexpr int kMost = 8, kWidth = kIsDense ? 16 : 8;  // what a register's results take
  std::int64_t registers = kIsDense ? (count + 1) / 2 : count;
  for (std::int64_t tiles = (registers + kMost - 1) / kMost; tiles > 0; --tiles) {
    const std::int64_t here = (registers + tiles - 1) / tiles;
    tile_of<kMost, K, kIsDense>(p, here, tiles == 1 && count % 2 != 0);
    p.x += here * 16;
    p.y += here * kWidth;
    if (p.residual) p.residual += here * kWidth;
    registers -= here;
  }
}

/// So many results of each row.
void rows(const PairRows& p, std::int64_t count, bool is_dense) {
  const bool is_usual = p.x_step == (is_dense ? 8 : 16);
  if (is_usual && p.columns == 3) return is_dense ? tiles_of<3, true>(p, count) : tiles_of<3, false>(p, count);
  if (is_usual && p.columns == 5) return is_dense ? tiles_of<5, true>(p, count) : tiles_of<5, false>(p, count);
  return is_dense ? tiles_of<0, true>(p, count) : tiles_of<0, false>(p, count);
}

/// A row of blocks between so many blocks of zeros.
void copy_row(const float* x, std::int64_t left, std::int64_t count, std::int64_t right, float* to) {
  for (std::int64_t i = 0; i < left; ++i, to += 8) hn::StoreU(hn::Zero(half), half, to);
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    hn::StoreU(hn::LoadU(d, x + i * 8), d, to + i * 8);
    hn::StoreU(hn::LoadU(d, x + i * 8 + 16), d, to + i * 8 + 16);
  }
  for (; i < count; ++i) hn::StoreU(hn::LoadU(half, x + i * 8), half, to + i * 8);
  to += count * 8;
  for (i = 0; i < right; ++i, to += 8) hn::StoreU(hn::Zero(half), half, to);
}
#else
void copy_row(const float* x, std::int64_t left, std::int64_t count, std::int64_t right, float* to) {
  std::fill_n(to, left * 8, 0.0f);
  std::copy_n(x, count * 8, to + left * 8);
  std::fill_n(to + (left + count) * 8, right * 8, 0.0f);
}

void rows(const PairRows& p, std::int64_t count, bool is_dense) {
  for (std::int64_t row = 0; row < p.count; ++row)
    for (std::int64_t i = 0; i < count * 8; ++i) {
      const std::int64_t from = p.top + row * p.stride, place = row * p.y_row + i;
      const auto met = p.met(from);
      float sum = 0;
      for (std::int64_t r = met.first; r < met.last; ++r)
        for (std::int64_t k = 0; k < p.columns; ++k) {
          const float* x = p.x + (from + r * p.dilation) * p.width + (is_dense ? i : i / 8 * 16 + i % 8);
          const float* w = p.weights + r * p.weights_row + i % 8;
          sum += is_dense ? x[k * p.x_step] * w[k * 16] : x[k * 8] * w[k * 8];
        }
      if (p.bias) sum += p.bias[i % 8];
      if (p.residual) sum += p.residual[place];
      sum = sum < p.low ? p.low : sum;
      p.y[place] = sum > p.high ? p.high : sum;
    }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/pages.h"

namespace ingot::engine {
namespace {

HWY_EXPORT(copy_row);
HWY_EXPORT(rows);

constexpr std::int64_t kPair = 2 * kBlock;
constexpr std::int64_t kStrip = 16 * 1024;  // floats of the source that a strip of rows meets
constexpr std::int64_t kGrain = 1 << 14;    // multiplications of blocks in a piece of work

/// Memory of this thread, kept for the next convolution.
float* room(std::int64_t floats) {
  thread_local std::shared_ptr<std::byte> kept;
  thread_local std::int64_t size = 0;
  if (floats > size) {
    kept = take_pages(static_cast<std::size_t>(floats) * sizeof(float));
    size = floats;
  }
  return reinterpret_cast<float*>(kept.get());
}

}  // namespace

/// Neighbouring results of each row. Where their filters reach beyond the image, what they meet is copied.
struct DepthwisePairs::Segment {
  std::int64_t first, count;
  bool is_copied;
  std::int64_t left, width;  // of what is met, in positions
};

struct DepthwisePairs::Image {
  std::int64_t height, width, out_height, out_width;
  std::vector<Segment> segments;
};

bool DepthwisePairs::is_for(const ConvolutionSpec& spec, const Dims& weights) {
  const bool is_depthwise = weights[1] == 1 && spec.groups == weights[0] && spec.groups > 1;
  if (!is_depthwise || weights.size() > 4 || !spec.input_is_blocked || !spec.output_is_blocked) return false;
  if (std::ranges::any_of(spec.pads_begin, [](std::int64_t pad) { return pad < 0; })) return false;
  // What filters meet at the ends of rows is copied: not where they reach far.
  constexpr std::int64_t kFar = 1024;
  if (weights.back() > kFar || spec.dilations.back() > kFar) return false;
  if ((weights.back() - 1) * spec.dilations.back() > kFar) return false;
  return spec.strides.back() == 1 || (spec.strides.back() == 2 && spec.dilations.back() == 1);
}

bool DepthwisePairs::is_always_faster(const ConvolutionSpec& spec, const Dims& weights) {
  constexpr std::int64_t kManyTaps = 16;
  return !spec.functions.empty() || weights.size() == 3 || weights[2] * weights[3] >= kManyTaps;
}

bool DepthwisePairs::is_faster(std::int64_t plane) const {
  constexpr std::int64_t kSmallPlane = 32 * 32;
  return is_always_faster_ || (across_.stride == 1 && plane <= kSmallPlane);
}

DepthwisePairs::DepthwisePairs(ConvolutionSpec spec, const Tensor& weights) : spec_(std::move(spec)) {
  const Dims& dims = weights.dims();
  is_always_faster_ = is_always_faster(spec_, dims);
  const auto axis = [&](std::size_t i) {
    return Axis{dims[i + 2], spec_.strides[i], spec_.dilations[i], spec_.pads_begin[i]};
  };
  across_ = axis(dims.size() - 3);
  if (dims.size() == 4) down_ = axis(0);
  const bool is_dense = across_.stride == 1;
  blocks_ = (dims[0] + kBlock - 1) / kBlock;
  columns_ = is_dense ? across_.kernel : (across_.kernel + 1) / 2;
  const std::int64_t size = blocks_ * down_.kernel * columns_ * kPair;
  weights_ = take_pages(static_cast<std::size_t>(size) * sizeof(float));
  auto* const packed = reinterpret_cast<float*>(weights_.get());
  std::fill_n(packed, size, 0.0f);
  const std::vector<float> plain = weights.to_vector<float>();
  std::size_t at = 0;
  for (std::int64_t c = 0; c < dims[0]; ++c)
    for (std::int64_t i = 0; i < down_.kernel; ++i)
      for (std::int64_t k = 0; k < across_.kernel; ++k, ++at) {
        const float factor = spec_.factor.empty() ? 1.0f : spec_.factor[static_cast<std::size_t>(c)];
        float* const row = packed + (c / kBlock * down_.kernel + i) * columns_ * kPair + c % kBlock;
        if (is_dense)
          row[k * kPair] = row[k * kPair + kBlock] = plain[at] * factor;
        else
          row[k * kBlock] = plain[at] * factor;
      }
}

/// Where filters reach beyond the image, a few registers of results are made from copies, else from the image itself.
std::vector<DepthwisePairs::Segment> DepthwisePairs::segments_of(std::int64_t width, std::int64_t out_width) const {
  const std::int64_t reach = (across_.kernel - 1) * across_.dilation + 1, stride = across_.stride;
  const std::int64_t edge = stride == 1 ? 12 : 6;
  const std::int64_t inside = width + across_.pad < reach ? 0 : (width + across_.pad - reach) / stride + 1;
  std::int64_t first = across_.pad == 0 ? 0 : std::max(edge, (across_.pad + stride - 1) / stride);
  std::int64_t last = inside >= out_width ? out_width : std::min(inside, out_width - edge);
  if (stride == 1 && last < out_width) last -= (last - first) % 2;
  std::vector<Segment> segments;
  const auto add = [&](std::int64_t begin, std::int64_t end, bool is_copied) {
    if (begin == end) return;
    // The last register may hold one result only, and reads what stands beside.
    const std::int64_t count = stride == 1 ? (end - begin + 1) / 2 * 2 : end - begin;
    segments.push_back({begin, end - begin, is_copied, begin * stride - across_.pad, (count - 1) * stride + reach});
  };
  if (last - first <= 4 * edge && (first > 0 || last < out_width)) {
    add(0, out_width, true);
    return segments;
  }
  const bool is_odd = stride == 1 && last == out_width && (last - first) % 2 != 0;
  if (is_odd && first == 0) --last;
  if (is_odd && first > 0) ++first;
  add(0, first, true);
  add(first, last, false);
  add(last, out_width, true);
  return segments;
}

/// Some rows of one plane of results.
void DepthwisePairs::run_strip(const Image& image, std::int64_t plane, std::int64_t first, std::int64_t count,
                               const float* x, float* y, const BlockedEpilogue& epilogue) const {
  const auto copy = HWY_DYNAMIC_DISPATCH(copy_row);
  const auto run_rows = HWY_DYNAMIC_DISPATCH(rows);
  // The rows of the source that are met; those beyond the image are left out of the filters.
  const std::int64_t top = first * down_.stride - down_.pad;
  const std::int64_t reach = (count - 1) * down_.stride + (down_.kernel - 1) * down_.dilation + 1;
  const std::int64_t begin = std::clamp<std::int64_t>(top, 0, image.height);
  const std::int64_t end = std::clamp<std::int64_t>(top + reach, begin, image.height);
  const float* const source = x + (plane * image.height + begin) * image.width * kBlock;
  const std::int64_t at = (plane * image.out_height + first) * image.out_width * kBlock;
  PairRows part{};
  part.height = end - begin;
  part.top = top - begin;
  part.count = count;
  part.stride = down_.stride;
  part.dilation = down_.dilation;
  part.x_step = across_.stride == 1 ? across_.dilation * kBlock : kPair;
  part.weights_row = columns_ * kPair;
  part.weights = reinterpret_cast<const float*>(weights_.get()) + plane % blocks_ * down_.kernel * part.weights_row;
  part.rows = down_.kernel;
  part.columns = across_.kernel;
  part.y_row = image.out_width * kBlock;
  part.bias = epilogue.bias ? epilogue.bias + plane % blocks_ * kBlock : nullptr;
  part.low = epilogue.low;
  part.high = epilogue.high;
  for (const Segment& segment : image.segments) {
    const float* from = source + segment.left * kBlock;
    std::int64_t width = image.width;
    if (segment.is_copied) {
      width = segment.width;
      const std::int64_t left = std::clamp<std::int64_t>(-segment.left, 0, width);
      const std::int64_t there = std::clamp<std::int64_t>(image.width - segment.left - left, 0, width - left);
      float* const copied = room((end - begin) * width * kBlock);
      for (std::int64_t i = 0; i < end - begin; ++i)
        copy(from + (i * image.width + left) * kBlock, left, there, width - left - there, copied + i * width * kBlock);
      from = copied;
    }
    part.x = from;
    part.width = width * kBlock;
    part.y = y + at + segment.first * kBlock;
    part.residual = epilogue.residual ? epilogue.residual + at + segment.first * kBlock : nullptr;
    run_rows(part, segment.count, across_.stride == 1);
  }
  for (const ElementStep& step : spec_.functions)
    apply(step.unary, y + at, y + at, count * image.out_width * kBlock, step.a, step.b);
}

void DepthwisePairs::run(const float* x, const Dims& dims, float* y, const Dims& out, const BlockedEpilogue& epilogue,
                         ThreadPool& pool, const Budget& budget) const {
  const bool is_plane = dims.size() == 4;
  const Image image{is_plane ? dims[2] : 1, dims.back(), is_plane ? out[2] : 1, out.back(),
                    segments_of(dims.back(), out.back())};
  // A source without elements may have results: those of padding.
  const std::int64_t source_row = std::max<std::int64_t>(1, image.width * kBlock * down_.stride);
  const std::int64_t rows = std::min(image.out_height, std::max<std::int64_t>(4, kStrip / source_row));
  const std::int64_t strips = (image.out_height + rows - 1) / rows, pieces = dims[0] * blocks_ * strips;
  const std::int64_t work = rows * image.out_width * down_.kernel * across_.kernel;
  pool.parallel_for(pieces, std::max<std::int64_t>(1, kGrain / work), [&](std::int64_t begin, std::int64_t end) {
    budget.poll();
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % strips * rows;
      run_strip(image, i / strips, first, std::min(rows, image.out_height - first), x, y, epilogue);
    }
  });
}

}  // namespace ingot::engine
#endif
