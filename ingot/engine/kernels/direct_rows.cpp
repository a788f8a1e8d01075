// Rows of results of convolutions as plain sums on channels in blocks of eight, two blocks in one register.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/direct_rows.cpp"
// What it is made for is tested in debug builds, too; nothing else is worth the time to compile it.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3_DL)
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/direct_rows.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3
const hn::FixedTag<float, 16> d;
const hn::FixedTag<float, 8> half;
using V = hn::Vec<decltype(d)>;

bool has_registers() { return true; }

/// Two blocks of one position.
HWY_INLINE V load_pair(const float* at, std::int64_t stride, bool has_second) {
  const auto first = hn::LoadU(half, at);
  return hn::Combine(d, has_second ? hn::LoadU(half, at + stride) : hn::Zero(half), first);
}

/// R positions, N registers of results. A block of U inputs (or one input) at each offset; kStride blocks (or inputs)
/// from position to position, 0: as many as the row says. Every loop over the sums is unrolled, or the compiler would
/// keep them in memory.
template <int R, int N, int U, int kStride> HWY_INLINE void tile(const DirectRow& p) {
  V sum[R][N];
  const auto each = [&](auto f) {
    HWY_UNROLL(16)
    for (int r = 0; r < R; ++r) {
      HWY_UNROLL(4)
      for (int j = 0; j < N; ++j) sum[r][j] = f(r, j, sum[r][j]);
    }
  };
  each([&](int, int, V) { return hn::Zero(d); });
  const std::int64_t step = kStride ? kStride * U : p.step;
  for (std::int64_t i = 0; i < p.count; ++i) {
    const float* HWY_RESTRICT x = p.x + p.taps[i].x;
    const float* HWY_RESTRICT w = p.weights + p.taps[i].weights;
    HWY_UNROLL(8)
    for (int k = 0; k < U; ++k) {
      V weight[N];
      HWY_UNROLL(4)
      for (int j = 0; j < N; ++j) weight[j] = hn::LoadU(d, w + k * kWide + j * p.weights_stride);
      HWY_UNROLL(16)
      for (int r = 0; r < R; ++r) {
        const V value = hn::Set(d, x[r * step + k]);
        HWY_UNROLL(4)
        for (int j = 0; j < N; ++j) sum[r][j] = hn::MulAdd(value, weight[j], sum[r][j]);
      }
    }
  }
  const auto at = [&](int r, int j) { return 2 * j * p.y_stride + r * 8; };
  const auto has_second = [&](int j) { return 2 * j + 1 < p.blocks; };
  if (!p.is_first)
    each([&](int r, int j, V y) { return hn::Add(y, load_pair(p.y + at(r, j), p.y_stride, has_second(j))); });
  if (p.is_last) {
    if (p.bias) each([&](int, int j, V y) { return hn::Add(y, load_pair(p.bias + j * kWide, 8, has_second(j))); });
    if (p.residual)
      each([&](int r, int j, V y) { return hn::Add(y, load_pair(p.residual + at(r, j), p.y_stride, has_second(j))); });
    const V low = hn::Set(d, p.low), high = hn::Set(d, p.high);
    // Written so that NaN passes both comparisons.
    each([&](int, int, V y) {
      const V above = hn::IfThenElse(hn::Lt(y, low), low, y);
      return hn::IfThenElse(hn::Gt(above, high), high, above);
    });
  }
  each([&](int r, int j, V y) {
    hn::StoreU(hn::LowerHalf(half, y), half, p.y + at(r, j));
    if (has_second(j)) hn::StoreU(hn::UpperHalf(half, y), half, p.y + at(r, j) + p.y_stride);
    return y;
  });
}

template <int R, int N, int U, int kStride> HWY_NOINLINE void whole_tile(const DirectRow& p) {
  tile<R, N, U, kStride>(p);
}

template <int R, int N, int U, int kStride> HWY_INLINE void tile_of(const DirectRow& p, std::int64_t count) {
  if (count == R) return whole_tile<R, N, U, kStride>(p);
  if constexpr (R > 1) tile_of<R - 1, N, U, kStride>(p, count);
}

/// A row in tiles of nearly equal sizes: a short one would wait for its own sums.
template <int N, int U, int kStride> void tiles_of(DirectRow p, std::int64_t count) {
  constexpr int kMost = kStride == 0 ? 4 : N == 1 ? 16 : N == 2 ? 12 : 6;
  const std::int64_t step = kStride ? kStride * U : p.step;
  for (std::int64_t tiles = (count + kMost - 1) / kMost; tiles > 0; --tiles) {
    const std::int64_t here = (count + tiles - 1) / tiles;
    tile_of<kMost, N, U, kStride>(p, here);
    p.x += here * step;
    p.y += here * 8;
    if (p.residual) p.residual += here * 8;
    count -= here;
  }
}

template <int U, int kStride> void row_of(const DirectRow& p, std::int64_t count, std::int64_t registers) {
  if (registers == 1) return tiles_of<1, U, kStride>(p, count);
  if constexpr (U == 8 && kStride != 0)
    if (registers == 4) return tiles_of<4, U, kStride>(p, count);
  tiles_of<2, U, kStride>(p, count);
}

/// One or two registers of results, or four where inputs are in blocks and filters one or two apart. `unit`: inputs at
/// each offset, 8 or 1.
void row(const DirectRow& p, std::int64_t count, std::int64_t registers, std::int64_t unit) {
  const auto with = [&](auto u) {
    constexpr int U = decltype(u)::value;
    if (p.step == U) return row_of<U, 1>(p, count, registers);
    if (p.step == 2 * U) return row_of<U, 2>(p, count, registers);
    row_of<U, 0>(p, count, registers);
  };
  if (unit == 8)
    with(std::integral_constant<int, 8>());
  else
    with(std::integral_constant<int, 1>());
}
#else
bool has_registers() { return false; }

void row(const DirectRow& p, std::int64_t count, std::int64_t registers, std::int64_t unit) {
  for (std::int64_t r = 0; r < count; ++r)
    for (std::int64_t channel = 0; channel < std::min(registers * kWide, p.blocks * 8); ++channel) {
      const float* weights = p.weights + channel / kWide * p.weights_stride + channel % kWide;
      const std::int64_t at = channel / 8 * p.y_stride + r * 8 + channel % 8;
      float sum = 0;
      for (std::int64_t i = 0; i < p.count; ++i)
        for (std::int64_t k = 0; k < unit; ++k)
          sum += p.x[p.taps[i].x + r * p.step + k] * weights[p.taps[i].weights + k * kWide];
      if (!p.is_first) sum += p.y[at];
      if (p.is_last) {
        if (p.bias) sum += p.bias[channel];
        if (p.residual) sum += p.residual[at];
        sum = sum < p.low ? p.low : sum;
        sum = sum > p.high ? p.high : sum;
      }
      p.y[at] = sum;
    }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(has_registers);
HWY_EXPORT(row);

}  // namespace

bool has_wide_registers() { return HWY_DYNAMIC_DISPATCH(has_registers)(); }

void sum_row(const DirectRow& p, std::int64_t count, std::int64_t registers, std::int64_t unit) {
  HWY_DYNAMIC_DISPATCH(row)(p, count, registers, unit);
}

}  // namespace ingot::engine
#endif
