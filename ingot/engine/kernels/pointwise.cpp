// 1 x 1 convolutions, and those along one axis, on channels in blocks of eight: some positions of up to three blocks of
// results in registers.
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
  const float* x;               // the first position in the first block of the input
  std::int64_t x_stride;        // from one block to the next
  std::int64_t blocks;          // of the input
  std::int64_t step;            // from one position to the next
  std::int64_t taps;            // elements of the filter that meet the input
  std::int64_t tap_step;        // from the input of one to that of the next
  const float* weights;         // for each tap and channel of the input those of the result's channels
  std::int64_t weights_stride;  // from one block to the next
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
template <int R, int B, bool kHasTaps> HWY_INLINE void tile(const PositionsPart& p) {
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
  const auto add_block = [&](const float* HWY_RESTRICT x, const float* HWY_RESTRICT w, std::int64_t step) {
    HWY_UNROLL(8)
    for (int k = 0; k < 8; ++k) {
      V weight[kVectors];
      HWY_UNROLL(24)
      for (int j = 0; j < kVectors; ++j) weight[j] = hn::Load(d, w + k * 8 * B + j * kLanes);
      HWY_UNROLL(12)
      for (int r = 0; r < R; ++r) {
        const V value = hn::Set(d, x[r * step + k]);
        HWY_UNROLL(24)
        for (int j = 0; j < kVectors; ++j) sum[r][j] = hn::MulAdd(value, weight[j], sum[r][j]);
      }
    }
  };
  const float* x = p.x;
  const float* w = p.weights;
  for (std::int64_t block = 0; block < p.blocks; ++block, x += p.x_stride) {
    if constexpr (kHasTaps) {
      for (std::int64_t tap = 0; tap < p.taps; ++tap) add_block(x + tap * p.tap_step, w + tap * 8 * 8 * B, p.step);
      w += p.weights_stride;
    } else {
      add_block(x, w, 8);
      w += 8 * 8 * B;
    }
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

template <int R, int B, bool kHasTaps> HWY_INLINE void tiles_of(PositionsPart& p, std::int64_t& count) {
  for (; count >= R; count -= R) {
    tile<R, B, kHasTaps>(p);
    p.x += R * p.step;
    p.y += R * 8;
    if (p.residual) p.residual += R * 8;
  }
}

/// The larger the tiles, the more of sixteen registers hold sums.
template <bool kHasTaps> void positions_of(PositionsPart p, std::int64_t count, std::int64_t blocks) {
  if (blocks == 1) {
    tiles_of<12, 1, kHasTaps>(p, count);
    tiles_of<4, 1, kHasTaps>(p, count);
    tiles_of<1, 1, kHasTaps>(p, count);
  } else if (blocks == 2) {
    tiles_of<6, 2, kHasTaps>(p, count);
    tiles_of<3, 2, kHasTaps>(p, count);
    tiles_of<1, 2, kHasTaps>(p, count);
  } else {
    tiles_of<4, 3, kHasTaps>(p, count);
    tiles_of<2, 3, kHasTaps>(p, count);
    tiles_of<1, 3, kHasTaps>(p, count);
  }
}

void positions(const PositionsPart& p, std::int64_t count, std::int64_t blocks, bool has_taps) {
  if (has_taps)
    positions_of<true>(p, count, blocks);
  else
    positions_of<false>(p, count, blocks);
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

constexpr std::int64_t kDepth = 48;       // blocks and taps of the input whose weights stay in the first-level cache
constexpr std::int64_t kPositions = 144;  // of a piece of work: their inputs stay in the second-level cache
constexpr std::int64_t kGroups = 4;       // of a piece of work

/// Blocks of results that are held in registers together.
struct Group {
  std::int64_t first, count;
};

std::int64_t blocks_of(std::int64_t channels) { return (channels + kWidth - 1) / kWidth; }

/// Neighbouring positions whose filters meet the input with the same elements.
struct FilteredRange {
  std::int64_t first, count;
  std::int64_t tap, taps;
};

/// The positions [begin, end) of a row of results from one of so many elements: those at the ends each for itself.
std::vector<FilteredRange> ranges_of(const RowFilter& f, std::int64_t size, std::int64_t begin, std::int64_t end) {
  std::vector<FilteredRange> ranges;
  for (std::int64_t i = begin; i < end;) {
    const std::int64_t place = i * f.stride - f.pad;
    const std::int64_t tap = place >= 0 ? 0 : std::min(f.size, (-place + f.dilation - 1) / f.dilation);
    const std::int64_t last = place >= size ? tap : std::clamp((size - 1 - place) / f.dilation + 1, tap, f.size);
    FilteredRange range{i, 1, tap, last - tap};
    if (range.taps == f.size) {
      // All that begin here or behind and end within the row.
      const std::int64_t furthest = (size - 1 - (f.size - 1) * f.dilation + f.pad) / f.stride;
      range.count = std::min(end, furthest + 1) - i;
    }
    ranges.push_back(range);
    i += range.count;
  }
  return ranges;
}

}  // namespace

struct Pointwise::State {
  Tensor weights;
  std::vector<float> factor;
  RowFilter filter;
  std::int64_t out, in;
  std::vector<Group> groups;
  std::once_flag flag;
  std::shared_ptr<std::byte> packed;  // by group, channel of the input, channel of the group

  float* weights_of(const Group& group) const {
    return reinterpret_cast<float*>(packed.get()) + group.first * kWidth * blocks_of(in) * kWidth * filter.size;
  }
  void pack(const Group& group) const;
};

Pointwise::Pointwise(Tensor weights, std::vector<float> factor, const RowFilter& filter)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.filter = filter;
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
  const std::int64_t wide = group.count * kWidth, taps = filter.size;
  float* to = weights_of(group);
  std::fill_n(to, wide * blocks_of(in) * kWidth * taps, 0.0f);
  std::vector<float> row(static_cast<std::size_t>(in * taps));
  for (std::int64_t j = 0; j < std::min(wide, out - group.first * kWidth); ++j) {
    const std::int64_t channel = group.first * kWidth + j;
    const float by = factor.empty() ? 1.0f : factor[static_cast<std::size_t>(channel)];
    std::memcpy(row.data(), weights.bytes().data() + static_cast<std::size_t>(channel) * row.size() * sizeof(float),
                row.size() * sizeof(float));
    for (std::int64_t k = 0; k < in; ++k)
      for (std::int64_t tap = 0; tap < taps; ++tap)
        to[((k / kWidth * taps + tap) * kWidth + k % kWidth) * wide + j] =
            row[static_cast<std::size_t>(k * taps + tap)] * by;
  }
}

void Pointwise::prepare(ThreadPool& pool, const Budget& budget) const {
  State& s = *state_;
  std::call_once(s.flag, [&] {
    s.packed = take_pages(
        static_cast<std::size_t>(blocks_of(s.out) * blocks_of(s.in) * kWidth * kWidth * s.filter.size) * sizeof(float));
    pool.parallel_for(std::ssize(s.groups), kGroups, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t i = begin; i < end; ++i) s.pack(s.groups[static_cast<std::size_t>(i)]);
    });
    drop_pages(s.weights.bytes());
    s.weights = {};
  });
}

void Pointwise::run(const float* x, const Sizes& sizes, float* y, const BlockedEpilogue& epilogue,
                    const std::vector<ElementStep>& functions, ThreadPool& pool, const Budget& budget) const {
  prepare(pool, budget);
  const State& s = *state_;
  const RowFilter& filter = s.filter;
  const std::int64_t in_blocks = blocks_of(s.in), out_blocks = blocks_of(s.out);
  const std::int64_t in_plane = sizes.in * kWidth, plane = sizes.out * kWidth;
  const std::int64_t across = (sizes.out + kPositions - 1) / kPositions;
  const std::int64_t depth = std::max<std::int64_t>(1, kDepth / filter.size);
  const bool is_plain = filter.size == 1 && filter.stride == 1 && filter.pad == 0 && sizes.in == sizes.out;
  const std::int64_t down = (std::ssize(s.groups) + kGroups - 1) / kGroups;
  const auto run_positions = HWY_DYNAMIC_DISPATCH(positions);
  const auto piece = [&](std::int64_t image, std::int64_t column, std::int64_t row) {
    budget.poll();
    const std::int64_t position = column * kPositions, count = std::min(kPositions, sizes.out - position);
    const std::int64_t end = std::min(std::ssize(s.groups), (row + 1) * kGroups);
    const auto ranges = is_plain ? std::vector<FilteredRange>{{position, count, 0, 1}}
                                 : ranges_of(filter, sizes.in, position, position + count);
    for (std::int64_t block = 0; block < in_blocks; block += depth)
      for (std::int64_t i = row * kGroups; i < end; ++i) {
        const Group& group = s.groups[static_cast<std::size_t>(i)];
        const std::int64_t out = (image * out_blocks + group.first) * plane + position * kWidth;
        PositionsPart part{};
        part.x = x + (image * in_blocks + block) * in_plane;
        part.x_stride = in_plane;
        part.step = filter.stride * kWidth;
        part.tap_step = filter.dilation * kWidth;
        part.blocks = std::min(depth, in_blocks - block);
        part.weights_stride = kWidth * group.count * kWidth * filter.size;
        part.weights = s.weights_of(group) + block * part.weights_stride;
        part.y = y + out;
        part.y_stride = plane;
        part.is_first = block == 0;
        part.is_last = block + part.blocks == in_blocks;
        part.bias = epilogue.bias ? epilogue.bias + group.first * kWidth : nullptr;
        part.residual = epilogue.residual ? epilogue.residual + out : nullptr;
        part.low = epilogue.low;
        part.high = epilogue.high;
        for (const FilteredRange& range : ranges) {
          PositionsPart some = part;
          some.x += (range.first * filter.stride - filter.pad + range.tap * filter.dilation) * kWidth;
          some.taps = range.taps;
          some.weights += range.tap * kWidth * group.count * kWidth;
          some.y += (range.first - position) * kWidth;
          if (some.residual) some.residual += (range.first - position) * kWidth;
          run_positions(some, range.count, group.count, !is_plain);
        }
        for (std::int64_t k = 0; k < group.count && part.is_last; ++k)
          for (const ElementStep& step : functions)
            apply(step.unary, part.y + k * plane, part.y + k * plane, count * kWidth, step.a, step.b);
      }
  };
  // It does not pay to wake another thread for little work.
  constexpr double kSmall = 1 << 18;  // multiplications
  const std::int64_t pieces = sizes.images * across * down;
  const double multiplications =
      static_cast<double>(sizes.images * sizes.out) * static_cast<double>(s.in * s.out * filter.size);
  const bool is_small = multiplications < kSmall;
  pool.parallel_for(pieces, is_small ? pieces : 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) piece(i / (across * down), i / down % across, i % down);
  });
}

}  // namespace ingot::engine
#endif
