// Products of float matrices: the right operand in panels, tiles of six rows held in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/gemm.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/gemm.h"

#include "ingot/base/threads.h"

#ifndef INGOT_ENGINE_TILE_PART
#define INGOT_ENGINE_TILE_PART  // this file is compiled once per kind of CPU
namespace ingot::engine {
/// Rows of a times one panel, over a part of the inner dimension.
struct TilePart {
  const float* a;
  std::int64_t a_stride;
  const float* panel;  // depth x panel_width
  std::int64_t depth;
  float* c;
  std::int64_t c_stride;
  std::int64_t columns;  // of the panel that exist
  bool is_first, is_last;
  const float* bias;      // at the panel's first column, or null
  const float* residual;  // at the tile's first element, or null
  float low, high;
};

}  // namespace ingot::engine
#endif

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Two vectors of columns and six rows fill twelve of sixteen registers.
constexpr int kRows = 6;
const hn::ScalableTag<float> d;

std::int64_t panel_width() { return 2 * static_cast<std::int64_t>(hn::Lanes(d)); }

template <int R> HWY_INLINE void tile(const TilePart& p) {
  using V = hn::Vec<decltype(d)>;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V sum[R][2];
  for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = hn::Zero(d);
  const float* HWY_RESTRICT b = p.panel;
  const float* HWY_RESTRICT a = p.a;
  for (std::int64_t k = 0; k < p.depth; ++k) {
    const V b0 = hn::Load(d, b), b1 = hn::Load(d, b + lanes);
    b += 2 * lanes;
    HWY_UNROLL(6)
    for (int r = 0; r < R; ++r) {
      const V x = hn::Set(d, a[r * p.a_stride + k]);
      sum[r][0] = hn::MulAdd(x, b0, sum[r][0]);
      sum[r][1] = hn::MulAdd(x, b1, sum[r][1]);
    }
  }
  const V low = hn::Set(d, p.low), high = hn::Set(d, p.high);
  const bool is_whole = p.columns == 2 * lanes;
  HWY_ALIGN float row[2 * hn::MaxLanes(d)] = {};
  for (int r = 0; r < R; ++r) {
    float* c = p.c + r * p.c_stride;
    for (int half = 0; half < 2; ++half) {
      V y = sum[r][half];
      const std::int64_t at = half * lanes;
      const std::int64_t there = p.columns - at;
      if (there <= 0) break;
      const auto load = [&](const float* from) {
        if (is_whole || there >= lanes) return hn::LoadU(d, from + at);
        for (std::int64_t i = 0; i < there; ++i) row[i] = from[at + i];
        return hn::Load(d, row);
      };
      if (!p.is_first) y = hn::Add(y, load(c));
      if (p.is_last) {
        if (p.bias) y = hn::Add(y, load(p.bias));
        if (p.residual) y = hn::Add(y, load(p.residual + r * p.c_stride));
        // Written so that NaN passes both comparisons.
        y = hn::IfThenElse(hn::Lt(y, low), low, y);
        y = hn::IfThenElse(hn::Gt(y, high), high, y);
      }
      if (is_whole || there >= lanes) {
        hn::StoreU(y, d, c + at);
      } else {
        hn::Store(y, d, row);
        for (std::int64_t i = 0; i < there; ++i) c[at + i] = row[i];
      }
    }
  }
}

void tiles(const TilePart& p, std::int64_t rows) {
  switch (rows) {
    case 6:
      return tile<6>(p);
    case 5:
      return tile<5>(p);
    case 4:
      return tile<4>(p);
    case 3:
      return tile<3>(p);
    case 2:
      return tile<2>(p);
    case 1:
      return tile<1>(p);
    default:
      return;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <limits>
#include <new>

namespace ingot::engine {
namespace {

HWY_EXPORT(panel_width);
HWY_EXPORT(tiles);

std::int64_t width() {
  static const std::int64_t kWidth = HWY_DYNAMIC_DISPATCH(panel_width)();
  return kWidth;
}

constexpr std::int64_t kTileRows = 6;
constexpr std::int64_t kDepth = 384;      // a panel of this depth stays in the first-level cache
constexpr std::int64_t kBlockRows = 72;   // rows of a that stay in the second-level cache
constexpr std::int64_t kBlockPanels = 8;  // panels that one piece of work covers

}  // namespace

Epilogue::Epilogue() : low(-std::numeric_limits<float>::infinity()), high(std::numeric_limits<float>::infinity()) {}

PackedMatrix::PackedMatrix(const float* b, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                           std::int64_t column_stride, const Budget& budget)
    : rows_(rows), columns_(columns) {
  const std::int64_t wide = width(), panels = (columns + wide - 1) / wide;
  constexpr std::align_val_t kAlignment{64};
  const std::size_t bytes = static_cast<std::size_t>(std::max<std::int64_t>(panels * wide * rows, 1)) * sizeof(float);
  panels_ = {static_cast<float*>(::operator new(bytes, kAlignment)),
             [](float* p) { ::operator delete (p, std::align_val_t{64}); }};
  float* out = panels_.get();
  for (std::int64_t first = 0; first < columns; first += wide) {
    budget.poll();
    const std::int64_t there = std::min(wide, columns - first);
    for (std::int64_t k = 0; k < rows; ++k, out += wide) {
      const float* from = b + k * row_stride + first * column_stride;
      for (std::int64_t j = 0; j < there; ++j) out[j] = from[j * column_stride];
      std::fill(out + there, out + wide, 0.0f);
    }
  }
}

std::int64_t PackedMatrix::byte_size() const {
  const std::int64_t wide = width();
  return (columns_ + wide - 1) / wide * wide * rows_ * static_cast<std::int64_t>(sizeof(float));
}

void multiply(const float* a, std::int64_t rows, std::int64_t a_stride, const PackedMatrix& b, float* c,
              std::int64_t c_stride, const Epilogue& epilogue, ThreadPool& pool, const Budget& budget) {
  const std::int64_t wide = width(), columns = b.columns(), depth = b.rows();
  const std::int64_t panels = (columns + wide - 1) / wide;
  const std::int64_t row_blocks = (rows + kBlockRows - 1) / kBlockRows;
  const std::int64_t panel_blocks = (panels + kBlockPanels - 1) / kBlockPanels;
  const auto run_tiles = HWY_DYNAMIC_DISPATCH(tiles);
  const bool accumulates = epilogue.residual == c;
  const float* const residual = accumulates ? nullptr : epilogue.residual;
  // Each piece computes its tiles alone and in one order: the bits do not depend on who does it.
  const auto piece = [&](std::int64_t row_block, std::int64_t panel_block) {
    const std::int64_t row_end = std::min(rows, (row_block + 1) * kBlockRows);
    const std::int64_t panel_end = std::min(panels, (panel_block + 1) * kBlockPanels);
    std::int64_t k = 0;
    do {
      budget.poll();
      const std::int64_t deep = std::min(kDepth, depth - k);
      for (std::int64_t panel = panel_block * kBlockPanels; panel < panel_end; ++panel) {
        const std::int64_t column = panel * wide;
        for (std::int64_t row = row_block * kBlockRows; row < row_end; row += kTileRows) {
          TilePart part{};
          part.a = a + row * a_stride + k;
          part.a_stride = a_stride;
          part.panel = b.panels() + (panel * depth + k) * wide;
          part.depth = deep;
          part.c = c + row * c_stride + column;
          part.c_stride = c_stride;
          part.columns = std::min(wide, columns - column);
          part.is_first = k == 0 && !accumulates;
          part.is_last = k + deep >= depth;
          part.bias = epilogue.bias ? epilogue.bias + column : nullptr;
          part.residual = residual ? residual + row * c_stride + column : nullptr;
          part.low = epilogue.low;
          part.high = epilogue.high;
          run_tiles(part, std::min(kTileRows, row_end - row));
        }
      }
      k += deep;
    } while (k < depth);
  };
  pool.parallel_for(row_blocks * panel_blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) piece(i / panel_blocks, i % panel_blocks);
  });
}

}  // namespace ingot::engine
#endif
