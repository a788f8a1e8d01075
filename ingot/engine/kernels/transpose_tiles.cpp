// Transposes, a square at a time in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/transpose_tiles.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/transpose_tiles.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kLine = 16;  // elements of a line of the cache

// A square of the source in registers, and its columns one after the other.
#if HWY_TARGET == HWY_SCALAR
constexpr std::int64_t kSquare = 1;
template <class Store> HWY_INLINE void square(const std::uint32_t* x, std::int64_t, std::int64_t, const Store& store) {
  store(0, hn::LoadU(hn::FixedTag<std::uint32_t, 1>(), x));
}
#elif HWY_MAX_BYTES < 32
constexpr std::int64_t kSquare = 4;
template <class Store>
HWY_INLINE void square(const std::uint32_t* x, std::int64_t stride, std::int64_t rows, const Store& store) {
  const hn::FixedTag<std::uint32_t, 4> d;
  const auto row = [&](std::int64_t i) { return hn::LoadU(d, x + std::min(i, rows - 1) * stride); };
  const auto a = row(0), b = row(1), c = row(2), e = row(3);
  const auto ab_low = hn::InterleaveLower(d, a, b), ab_high = hn::InterleaveUpper(d, a, b);
  const auto ce_low = hn::InterleaveLower(d, c, e), ce_high = hn::InterleaveUpper(d, c, e);
  store(0, hn::ConcatLowerLower(d, ce_low, ab_low));
  store(1, hn::ConcatUpperUpper(d, ce_low, ab_low));
  store(2, hn::ConcatLowerLower(d, ce_high, ab_high));
  store(3, hn::ConcatUpperUpper(d, ce_high, ab_high));
}
#else
constexpr std::int64_t kSquare = 8;
template <class Store>
HWY_INLINE void square(const std::uint32_t* x, std::int64_t stride, std::int64_t rows, const Store& store) {
  const hn::FixedTag<std::uint32_t, 8> d;
  const hn::FixedTag<std::uint64_t, 4> d64;
  const auto row = [&](std::int64_t i) { return hn::LoadU(d, x + std::min(i, rows - 1) * stride); };
  // Columns i and i + 4 of four rows, for i < 4.
  const auto four = [&](std::int64_t first, auto* columns) {
    const auto a = row(first), b = row(first + 1), c = row(first + 2), e = row(first + 3);
    const auto ab_low = hn::BitCast(d64, hn::InterleaveLower(d, a, b));
    const auto ab_high = hn::BitCast(d64, hn::InterleaveUpper(d, a, b));
    const auto ce_low = hn::BitCast(d64, hn::InterleaveLower(d, c, e));
    const auto ce_high = hn::BitCast(d64, hn::InterleaveUpper(d, c, e));
    columns[0] = hn::BitCast(d, hn::InterleaveLower(d64, ab_low, ce_low));
    columns[1] = hn::BitCast(d, hn::InterleaveUpper(d64, ab_low, ce_low));
    columns[2] = hn::BitCast(d, hn::InterleaveLower(d64, ab_high, ce_high));
    columns[3] = hn::BitCast(d, hn::InterleaveUpper(d64, ab_high, ce_high));
  };
  hn::Vec<decltype(d)> upper[4], lower[4];
  four(0, upper);
  four(4, lower);
  HWY_UNROLL(4)
  for (std::int64_t i = 0; i < 4; ++i) store(i, hn::ConcatLowerLower(d, lower[i], upper[i]));
  HWY_UNROLL(4)
  for (std::int64_t i = 0; i < 4; ++i) store(i + 4, hn::ConcatUpperUpper(d, lower[i], upper[i]));
}
#endif

using Square = hn::FixedTag<std::uint32_t, kSquare>;

/// Few columns without gaps between the rows: each vector overwrites what the one before it wrote too much, and none
/// reaches beyond the end.
void transpose_narrow(const std::uint32_t* HWY_RESTRICT x, std::int64_t x_stride, std::uint32_t* HWY_RESTRICT y,
                      std::int64_t rows, std::int64_t columns) {
  std::int64_t r = 0;
  for (; r + kSquare <= rows && (r + kSquare - 1) * columns + kSquare <= rows * columns; r += kSquare)
    square(x + r, x_stride, columns,
           [&](std::int64_t i, auto column) { hn::StoreU(column, Square(), y + (r + i) * columns); });
  for (; r < rows; ++r)
    for (std::int64_t k = 0; k < columns; ++k) y[r * columns + k] = x[k * x_stride + r];
}

void transpose(const std::uint32_t* HWY_RESTRICT x, std::int64_t x_stride, std::uint32_t* HWY_RESTRICT y,
               std::int64_t y_stride, std::int64_t rows, std::int64_t columns) {
  if (columns <= kSquare && y_stride == columns) return transpose_narrow(x, x_stride, y, rows, columns);
  const std::int64_t whole_rows = rows / kSquare * kSquare, whole_columns = columns / kSquare * kSquare;
  // Whole lines of y: half a line that goes to memory costs as much.
  for (std::int64_t k0 = 0; k0 < whole_columns; k0 += kLine)
    for (std::int64_t r = 0; r < whole_rows; r += kSquare)
      for (std::int64_t k = k0; k < std::min(k0 + kLine, whole_columns); k += kSquare)
        square(x + k * x_stride + r, x_stride, kSquare,
               [&](std::int64_t i, auto column) { hn::StoreU(column, Square(), y + (r + i) * y_stride + k); });
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = r < whole_rows ? whole_columns : 0; k < columns; ++k)
      y[r * y_stride + k] = x[k * x_stride + r];
}

/// Elements of other sizes, squares of as many as sixteen bytes hold.
template <class T>
void transpose_small(const T* HWY_RESTRICT x, std::int64_t x_stride, T* HWY_RESTRICT y, std::int64_t y_stride,
                     std::int64_t rows, std::int64_t columns) {
#if HWY_TARGET == HWY_SCALAR
  const std::int64_t whole_rows = 0, whole_columns = 0;
#else
  constexpr std::int64_t kSize = 16 / sizeof(T);
  const hn::FixedTag<T, kSize> d;
  using V = hn::Vec<decltype(d)>;
  const std::int64_t whole_rows = rows / kSize * kSize, whole_columns = columns / kSize * kSize;
  for (std::int64_t k = 0; k < whole_columns; k += kSize)
    for (std::int64_t r = 0; r < whole_rows; r += kSize) {
      V a[kSize], b[kSize];
      HWY_UNROLL(16)
      for (std::int64_t i = 0; i < kSize; ++i) a[i] = hn::LoadU(d, x + (k + i) * x_stride + r);
      // Each step puts elements of rows that are half of all apart side by side.
      HWY_UNROLL(4)
      for (std::int64_t step = 1; step < kSize; step *= 2) {
        HWY_UNROLL(8)
        for (std::int64_t i = 0; i < kSize / 2; ++i) {
          b[2 * i] = hn::InterleaveLower(d, a[i], a[i + kSize / 2]);
          b[2 * i + 1] = hn::InterleaveUpper(d, a[i], a[i + kSize / 2]);
        }
        HWY_UNROLL(16)
        for (std::int64_t i = 0; i < kSize; ++i) a[i] = b[i];
      }
      HWY_UNROLL(16)
      for (std::int64_t i = 0; i < kSize; ++i) hn::StoreU(a[i], d, y + (r + i) * y_stride + k);
    }
#endif
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = r < whole_rows ? whole_columns : 0; k < columns; ++k)
      y[r * y_stride + k] = x[k * x_stride + r];
}

void transpose_1(const std::uint8_t* x, std::int64_t x_stride, std::uint8_t* y, std::int64_t y_stride,
                 std::int64_t rows, std::int64_t columns) {
  transpose_small(x, x_stride, y, y_stride, rows, columns);
}
void transpose_2(const std::uint16_t* x, std::int64_t x_stride, std::uint16_t* y, std::int64_t y_stride,
                 std::int64_t rows, std::int64_t columns) {
  transpose_small(x, x_stride, y, y_stride, rows, columns);
}
void transpose_8(const std::uint64_t* x, std::int64_t x_stride, std::uint64_t* y, std::int64_t y_stride,
                 std::int64_t rows, std::int64_t columns) {
  transpose_small(x, x_stride, y, y_stride, rows, columns);
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(transpose);
HWY_EXPORT(transpose_1);
HWY_EXPORT(transpose_2);
HWY_EXPORT(transpose_8);

}  // namespace

void transpose_words(const std::uint32_t* x, std::int64_t x_stride, std::uint32_t* y, std::int64_t y_stride,
                     std::int64_t rows, std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transpose)(x, x_stride, y, y_stride, rows, columns);
}

void transpose_words(const std::uint8_t* x, std::int64_t x_stride, std::uint8_t* y, std::int64_t y_stride,
                     std::int64_t rows, std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transpose_1)(x, x_stride, y, y_stride, rows, columns);
}

void transpose_words(const std::uint16_t* x, std::int64_t x_stride, std::uint16_t* y, std::int64_t y_stride,
                     std::int64_t rows, std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transpose_2)(x, x_stride, y, y_stride, rows, columns);
}

void transpose_words(const std::uint64_t* x, std::int64_t x_stride, std::uint64_t* y, std::int64_t y_stride,
                     std::int64_t rows, std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transpose_8)(x, x_stride, y, y_stride, rows, columns);
}

}  // namespace ingot::engine
#endif
