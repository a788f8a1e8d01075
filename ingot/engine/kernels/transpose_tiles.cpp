// Transposes of elements of four bytes, sixteen at a time in registers.
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

#if HWY_TARGET == HWY_SCALAR
constexpr std::int64_t kSquare = 1;
HWY_INLINE void square(const std::uint32_t* x, std::int64_t, std::uint32_t* y, std::int64_t) { *y = *x; }
#else
constexpr std::int64_t kSquare = 4;
HWY_INLINE void square(const std::uint32_t* HWY_RESTRICT x, std::int64_t x_stride, std::uint32_t* HWY_RESTRICT y,
                       std::int64_t y_stride) {
  const hn::FixedTag<std::uint32_t, 4> d;
  const auto a = hn::LoadU(d, x), b = hn::LoadU(d, x + x_stride);
  const auto c = hn::LoadU(d, x + 2 * x_stride), e = hn::LoadU(d, x + 3 * x_stride);
  const auto ab_low = hn::InterleaveLower(d, a, b), ab_high = hn::InterleaveUpper(d, a, b);
  const auto ce_low = hn::InterleaveLower(d, c, e), ce_high = hn::InterleaveUpper(d, c, e);
  hn::StoreU(hn::ConcatLowerLower(d, ce_low, ab_low), d, y);
  hn::StoreU(hn::ConcatUpperUpper(d, ce_low, ab_low), d, y + y_stride);
  hn::StoreU(hn::ConcatLowerLower(d, ce_high, ab_high), d, y + 2 * y_stride);
  hn::StoreU(hn::ConcatUpperUpper(d, ce_high, ab_high), d, y + 3 * y_stride);
}
#endif

void transpose(const std::uint32_t* x, std::int64_t x_stride, std::uint32_t* y, std::int64_t y_stride,
               std::int64_t rows, std::int64_t columns) {
  const std::int64_t whole_rows = rows / kSquare * kSquare, whole_columns = columns / kSquare * kSquare;
  for (std::int64_t k0 = 0; k0 < whole_columns; k0 += kLine) {
    const std::int64_t k1 = std::min(k0 + kLine, whole_columns);
    for (std::int64_t r = 0; r < whole_rows; r += kSquare)
      for (std::int64_t k = k0; k < k1; k += kSquare)
        square(x + k * x_stride + r, x_stride, y + r * y_stride + k, y_stride);
  }
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = r < whole_rows ? whole_columns : 0; k < columns; ++k)
      y[r * y_stride + k] = x[k * x_stride + r];
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(transpose);

}  // namespace

void transpose_words(const std::uint32_t* x, std::int64_t x_stride, std::uint32_t* y, std::int64_t y_stride,
                     std::int64_t rows, std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transpose)(x, x_stride, y, y_stride, rows, columns);
}

}  // namespace ingot::engine
#endif
