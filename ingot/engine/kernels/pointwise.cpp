// 1 x 1 convolutions on channels in blocks of eight: some positions of up to three blocks of results in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/pointwise.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/pointwise.h"

#ifndef INGOT_ENGINE_POINTWISE_PART
#define INGOT_ENGINE_POINTWISE_PART  // this file is compiled once per kind of CPU
namespace ingot::engine {

constexpr std::int64_t kWidth = 8;  // channels of a block

/// Some positions of some blocks of the result, over some blocks of the input.
struct PositionsPart {
  const float* x;         // the first position in the first block of the input
  std::int64_t x_stride;  // from one block to the next
  std::int64_t blocks;    // of the input
  const float* weights;   // for each channel of the input those of the result's channels
  float* y;
  std::int64_t y_stride;
  bool is_first, is_last;
  const float* bias;      // or null
  const float* residual;  // or null
  float low, high;
};

}  // namespace ingot::engine
#endif

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::CappedTag<float, 8> d;
using V = hn::Vec<decltype(d)>;

/// R positions, B blocks of results.
template <int R, int B> HWY_INLINE void tile(const PositionsPart& p) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d)), kVectors = B * 8 / kLanes;
  V sum[R][kVectors];
  const auto each = [&](auto f) {
    HWY_UNROLL(12)
    for (int r = 0; r < R; ++r) {
      HWY_UNROLL(24)
      for (int j = 0; j < kVectors; ++j) sum[r][j] = f(r, j, sum[r][j]);
    }
  };
  const auto place = [&](int r, int j) { return j * kLanes / 8 * p.y_stride + r * 8 + j * kLanes % 8; };
  each([&](int, int, V) { return hn::Zero(d); });
  const float* HWY_RESTRICT x = p.x;
  const float* HWY_RESTRICT w = p.weights;
  for (std::int64_t block = 0; block < p.blocks; ++block) {
    HWY_UNROLL(8)
    for (int k = 0; k < 8; ++k) {
      V weight[kVectors];
      HWY_UNROLL(24)
      for (int j = 0; j < kVectors; ++j) weight[j] = hn::Load(d, w + k * 8 * B + j * kLanes);
      HWY_UNROLL(12)
      for (int r = 0; r < R; ++r) {
        const V value = hn::Set(d, x[r * 8 + k]);
        HWY_UNROLL(24)
        for (int j = 0; j < kVectors; ++j) sum[r][j] = hn::MulAdd(value, weight[j], sum[r][j]);
      }
    }
    x += p.x_stride;
    w += 8 * 8 * B;
  }
  if (!p.is_first) each([&](int r, int j, V y) { return hn::Add(y, hn::LoadU(d, p.y + place(r, j))); });
  if (p.is_last) {
    if (p.bias) each([&](int, int j, V y) { return hn::Add(y, hn::LoadU(d, p.bias + j * kLanes)); });
    if (p.residual) each([&](int r, int j, V y) { return hn::Add(y, hn::LoadU(d, p.residual + place(r, j))); });
    const V low = hn::Set(d, p.low), high = hn::Set(d, p.high);
    // Written so that NaN passes both comparisons.
    each([&](int, int, V y) {
      const V above = hn::IfThenElse(hn::Lt(y, low), low, y);
      return hn::IfThenElse(hn::Gt(above, high), high, above);
    });
  }
  each([&](int r, int j, V y) {
    hn::StoreU(y, d, p.y + place(r, j));
    return y;
  });
}

template <int R, int B> HWY_INLINE void tiles_of(PositionsPart& p, std::int64_t& count) {
  for (; count >= R; count -= R) {
    tile<R, B>(p);
    p.x += R * 8;
    p.y += R * 8;
    if (p.residual) p.residual += R * 8;
  }
}

/// The larger the tiles, the more of sixteen registers hold sums.
void positions(PositionsPart p, std::int64_t count, std::int64_t blocks) {
  if (blocks == 1) {
    tiles_of<12, 1>(p, count);
    tiles_of<4, 1>(p, count);
    tiles_of<1, 1>(p, count);
  } else if (blocks == 2) {
    tiles_of<6, 2>(p, count);
    tiles_of<3, 2>(p, count);
    tiles_of<1, 2>(p, count);
  } else {
    tiles_of<4, 3>(p, count);
    tiles_of<2, 3>(p, count);
    tiles_of<1, 3>(p, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cstring>
#include <mutex>

#include "ingot/base/budget.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/threads.h"
#include "ingot/engine/pages.h"

namespace ingot::engine {
namespace {

HWY_EXPORT(positions);

constexpr std::int64_t kDepth = 48;       // blocks of the input whose weights stay in the first-level cache
constexpr std::int64_t kPositions = 144;  // of a piece of work: their inputs stay in the second-level cache
constexpr std::int64_t kGroups = 4;       // of a piece of work

/// Blocks of results that are held in registers together.
struct Group {
  std::int64_t first, count;
};

std::int64_t blocks_of(std::int64_t channels) { return (channels + kWidth - 1) / kWidth; }

}  // namespace

struct Pointwise::State {
  Tensor weights;
  std::vector<float> factor;
  std::int64_t out, in;
  std::vector<Group> groups;
  std::once_flag flag;
  std::shared_ptr<std::byte> packed;  // by group, channel of the input, channel of the group

  float* weights_of(const Group& group) const {
    return reinterpret_cast<float*>(packed.get()) + group.first * kWidth * blocks_of(in) * kWidth;
  }
  void pack(const Group& group) const;
};

Pointwise::Pointwise(Tensor weights, std::vector<float> factor) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.out = weights.dims()[0];
  s.in = weights.dims()[1];
  s.weights = std::move(weights);
  s.factor = std::move(factor);
  // Pairs, and three where one would be left over.
  for (std::int64_t first = 0, all = blocks_of(s.out), count; first < all; first += count) {
    count = all - first == 3 ? 3 : std::min<std::int64_t>(2, all - first);
    s.groups.push_back({first, count});
  }
}

Pointwise::~Pointwise() = default;

void Pointwise::State::pack(const Group& group) const {
  const std::int64_t wide = group.count * kWidth;
  float* to = weights_of(group);
  std::fill_n(to, wide * blocks_of(in) * kWidth, 0.0f);
  std::vector<float> row(static_cast<std::size_t>(in));
  for (std::int64_t j = 0; j < std::min(wide, out - group.first * kWidth); ++j) {
    const std::int64_t channel = group.first * kWidth + j;
    const float by = factor.empty() ? 1.0f : factor[static_cast<std::size_t>(channel)];
    std::memcpy(row.data(), weights.bytes().data() + static_cast<std::size_t>(channel * in) * sizeof(float),
                row.size() * sizeof(float));
    for (std::int64_t k = 0; k < in; ++k) to[k * wide + j] = row[static_cast<std::size_t>(k)] * by;
  }
}

void Pointwise::prepare(ThreadPool& pool, const Budget& budget) const {
  State& s = *state_;
  std::call_once(s.flag, [&] {
    s.packed =
        take_pages(static_cast<std::size_t>(blocks_of(s.out) * blocks_of(s.in) * kWidth * kWidth) * sizeof(float));
    pool.parallel_for(std::ssize(s.groups), kGroups, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t i = begin; i < end; ++i) s.pack(s.groups[static_cast<std::size_t>(i)]);
    });
    drop_pages(s.weights.bytes());
    s.weights = {};
  });
}

void Pointwise::run(const float* x, std::int64_t images, std::int64_t positions, float* y,
                    const BlockedEpilogue& epilogue, const std::vector<ElementStep>& functions, ThreadPool& pool,
                    const Budget& budget) const {
  prepare(pool, budget);
  const State& s = *state_;
  const std::int64_t in_blocks = blocks_of(s.in), out_blocks = blocks_of(s.out), plane = positions * kWidth;
  const std::int64_t across = (positions + kPositions - 1) / kPositions;
  const std::int64_t down = (std::ssize(s.groups) + kGroups - 1) / kGroups;
  const auto run_positions = HWY_DYNAMIC_DISPATCH(positions);
  const auto piece = [&](std::int64_t image, std::int64_t column, std::int64_t row) {
    budget.poll();
    const std::int64_t position = column * kPositions, count = std::min(kPositions, positions - position);
    const std::int64_t end = std::min(std::ssize(s.groups), (row + 1) * kGroups);
    for (std::int64_t block = 0; block < in_blocks; block += kDepth)
      for (std::int64_t i = row * kGroups; i < end; ++i) {
        const Group& group = s.groups[static_cast<std::size_t>(i)];
        const std::int64_t out = (image * out_blocks + group.first) * plane + position * kWidth;
        PositionsPart part{};
        part.x = x + (image * in_blocks + block) * plane + position * kWidth;
        part.x_stride = plane;
        part.blocks = std::min(kDepth, in_blocks - block);
        part.weights = s.weights_of(group) + block * kWidth * group.count * kWidth;
        part.y = y + out;
        part.y_stride = plane;
        part.is_first = block == 0;
        part.is_last = block + part.blocks == in_blocks;
        part.bias = epilogue.bias ? epilogue.bias + group.first * kWidth : nullptr;
        part.residual = epilogue.residual ? epilogue.residual + out : nullptr;
        part.low = epilogue.low;
        part.high = epilogue.high;
        run_positions(part, count, group.count);
        for (std::int64_t k = 0; k < group.count && part.is_last; ++k)
          for (const ElementStep& step : functions)
            apply(step.unary, part.y + k * plane, part.y + k * plane, count * kWidth, step.a, step.b);
      }
  };
  // It does not pay to wake another thread for little work.
  constexpr double kSmall = 1 << 18;  // multiplications
  const std::int64_t pieces = images * across * down;
  const bool is_small = static_cast<double>(images * positions) * static_cast<double>(s.in * s.out) < kSmall;
  pool.parallel_for(pieces, is_small ? pieces : 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) piece(i / (across * down), i / down % across, i % down);
  });
}

}  // namespace ingot::engine
#endif
