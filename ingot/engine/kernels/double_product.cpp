// Products of matrices of doubles: a panel of columns at a time, six rows of it in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/double_product.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/double_product.h"

#ifndef INGOT_ENGINE_DOUBLE_PART
#define INGOT_ENGINE_DOUBLE_PART  // this file is compiled once per kind of CPU
namespace ingot::engine {

constexpr std::int64_t kPanel = 8;    // columns
constexpr std::int64_t kDepth = 256;  // rows of a panel that stay in the first-level cache
constexpr std::int64_t kHigh = 6;     // rows of results in registers

}  // namespace ingot::engine
#endif

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::CappedTag<double, 4> d;
using V = hn::Vec<decltype(d)>;

/// kRows rows of a times a panel, added to what `c` has unless it is the first part.
template <int kRows>
HWY_INLINE void rows_of(const DoubleMatrix& a, const double* first, const double* panel, std::int64_t depth,
                        bool is_first, double* c) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d)), kVectors = static_cast<int>(kPanel) / kLanes;
  V sum[kRows][kVectors];
  HWY_UNROLL(6)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (int j = 0; j < kVectors; ++j)
      sum[r][j] = is_first ? hn::Zero(d) : hn::LoadU(d, c + r * kPanel + j * kLanes);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    V b[kVectors];
    HWY_UNROLL(8)
    for (int j = 0; j < kVectors; ++j) b[j] = hn::LoadU(d, panel + k * kPanel + j * kLanes);
    HWY_UNROLL(6)
    for (int r = 0; r < kRows; ++r) {
      const V value = hn::Set(d, first[r * a.row_stride + k * a.column_stride]);
      HWY_UNROLL(8)
      for (int j = 0; j < kVectors; ++j) sum[r][j] = hn::MulAdd(value, b[j], sum[r][j]);
    }
  }
  HWY_UNROLL(6)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (int j = 0; j < kVectors; ++j) hn::StoreU(sum[r][j], d, c + r * kPanel + j * kLanes);
  }
}

void panel_part(const DoubleMatrix& a, std::int64_t first_row, std::int64_t rows, std::int64_t from,
                const double* panel, std::int64_t depth, double* c) {
  const double* first = a.data + first_row * a.row_stride + from * a.column_stride;
  if (rows == kHigh) return rows_of<kHigh>(a, first, panel, depth, from == 0, c);
  for (std::int64_t r = 0; r < rows; ++r)
    rows_of<1>(a, first + r * a.row_stride, panel, depth, from == 0, c + r * kPanel);
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <vector>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"

namespace ingot::engine {
namespace {

HWY_EXPORT(panel_part);

void pack(const DoubleMatrix& b, std::int64_t row, std::int64_t depth, std::int64_t column, double* panel) {
  const std::int64_t wide = std::min(kPanel, b.columns - column);
  for (std::int64_t k = 0; k < depth; ++k)
    for (std::int64_t j = 0; j < kPanel; ++j)
      panel[k * kPanel + j] = j < wide ? b.data[(row + k) * b.row_stride + (column + j) * b.column_stride] : 0;
}

}  // namespace

void multiply(const DoubleMatrix& a, const DoubleMatrix& b, double* c, ThreadPool& pool, const Budget& budget) {
  const std::int64_t panels = (b.columns + kPanel - 1) / kPanel;
  constexpr double kSmall = 1 << 17;  // multiplications for which it does not pay to wake another thread
  const bool is_small = static_cast<double>(a.rows) * static_cast<double>(b.rows * b.columns) < kSmall;
  const auto part = HWY_DYNAMIC_DISPATCH(panel_part);
  pool.parallel_for(panels, is_small ? panels : 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> panel(static_cast<std::size_t>(kDepth * kPanel));
    std::vector<double> sums(static_cast<std::size_t>((a.rows + kHigh) * kPanel));
    for (std::int64_t p = begin; p < end; ++p) {
      budget.poll();
      for (std::int64_t k = 0; k < b.rows; k += kDepth) {
        const std::int64_t depth = std::min(kDepth, b.rows - k);
        pack(b, k, depth, p * kPanel, panel.data());
        for (std::int64_t r = 0; r < a.rows; r += kHigh)
          part(a, r, std::min(kHigh, a.rows - r), k, panel.data(), depth, sums.data() + r * kPanel);
      }
      const std::int64_t wide = std::min(kPanel, b.columns - p * kPanel);
      for (std::int64_t r = 0; r < a.rows; ++r)
        std::copy_n(sums.data() + r * kPanel, wide, c + r * b.columns + p * kPanel);
    }
  });
}

}  // namespace ingot::engine
#endif
