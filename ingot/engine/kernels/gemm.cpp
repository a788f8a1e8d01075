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
#include "ingot/engine/kernels/tile_end.h"
#include "ingot/engine/pages.h"

#ifndef INGOT_ENGINE_TILE_PART
#define INGOT_ENGINE_TILE_PART  // this file is compiled once per kind of CPU
namespace ingot::engine {
/// Rows of a times some panels, over a part of the inner dimension.
struct TilePart {
  const float* a;
  std::int64_t a_stride;
  const float* panel;         // depth x panel_width
  std::int64_t panel_stride;  // elements from one panel to the next
  std::int64_t depth;
  TileEnd end;
};

}  // namespace ingot::engine
#endif

#include "ingot/engine/kernels/tile_end.inc"

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {

std::int64_t panel_width() { return 2 * static_cast<std::int64_t>(hn::Lanes(d)); }

/// R rows and P panels of two vectors each: the sums take 2 * R * P of sixteen registers. Every loop over them is
/// unrolled, or the compiler would keep them in memory.
template <int R, int P> HWY_INLINE void tile(const TilePart& p) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V sum[R][2 * P];
  HWY_UNROLL(6)
  for (int r = 0; r < R; ++r) {
    HWY_UNROLL(8)
    for (int j = 0; j < 2 * P; ++j) sum[r][j] = hn::Zero(d);
  }
  const float* HWY_RESTRICT b = p.panel;
  const float* HWY_RESTRICT a = p.a;
  HWY_UNROLL(4)
  for (std::int64_t k = 0; k < p.depth; ++k) {
    HWY_UNROLL(4)
    for (int q = 0; q < P; ++q) {
      const V b0 = hn::Load(d, b + q * p.panel_stride), b1 = hn::Load(d, b + q * p.panel_stride + lanes);
      HWY_UNROLL(6)
      for (int r = 0; r < R; ++r) {
        const V x = hn::Set(d, a[r * p.a_stride + k]);
        sum[r][2 * q] = hn::MulAdd(x, b0, sum[r][2 * q]);
        sum[r][2 * q + 1] = hn::MulAdd(x, b1, sum[r][2 * q + 1]);
      }
    }
    b += 2 * lanes;
  }
  end_tile<R, 2 * P>(p.end, sum);
}

void tile_of(const TilePart& p, std::int64_t rows, std::int64_t panels) {
  switch (rows) {
    case 6:
      return tile<6, 1>(p);
    case 5:
      return tile<5, 1>(p);
    case 4:
      return tile<4, 1>(p);
    case 3:
      return panels == 2 ? tile<3, 2>(p) : tile<3, 1>(p);
    case 2:
      return panels == 2 ? tile<2, 2>(p) : tile<2, 1>(p);
    case 1:
      return panels == 4 ? tile<1, 4>(p) : tile<1, 1>(p);
    default:
      return;
  }
}

/// All rows of the part, kTileRows at a time.
void tiles(TilePart p, std::int64_t rows, std::int64_t panels) {
  for (; rows > 0; rows -= kTileRows) {
    tile_of(p, rows < kTileRows ? rows : kTileRows, panels);
    p.a += kTileRows * p.a_stride;
    p.end.c += kTileRows * p.end.c_stride;
    if (p.end.residual) p.end.residual += kTileRows * p.end.c_stride;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <limits>
#include <vector>

namespace ingot::engine {
namespace {

HWY_EXPORT(panel_width);
HWY_EXPORT(tiles);

constexpr std::int64_t kDepth = 384;      // a panel of this depth stays in the first-level cache
constexpr std::int64_t kBlockRows = 144;  // rows of a that stay in the second-level cache
constexpr std::int64_t kBlockPanels = 8;  // panels that one piece of work covers
constexpr std::int64_t kSmall = 1 << 19;  // multiplications for which it does not pay to wake another thread

/// Panels that a tile of so many rows covers: few rows alone have too few sums to keep the arithmetic units busy.
constexpr std::int64_t panels_at_once(std::int64_t rows) { return rows == 1 ? 4 : rows <= 3 ? 2 : 1; }

}  // namespace

Epilogue::Epilogue() : low(-std::numeric_limits<float>::infinity()), high(std::numeric_limits<float>::infinity()) {}

std::int64_t panel_columns() {
  static const std::int64_t kColumns = HWY_DYNAMIC_DISPATCH(panel_width)();
  return kColumns;
}

namespace {

/// Some panels over a part of the inner dimension.
struct Panels {
  const float* first;
  std::int64_t stride;  // from one panel to the next
};

/// `panels_of(panel, count, k, deep)` gives Panels; called on the thread that then reads them.
template <class F>
void multiply_by(const float* a, std::int64_t rows, std::int64_t a_stride, std::int64_t depth, std::int64_t columns,
                 const F& panels_of, float* c, std::int64_t c_stride, const Epilogue& epilogue, ThreadPool& pool,
                 const Budget& budget) {
  const std::int64_t wide = panel_columns();
  const std::int64_t panels = (columns + wide - 1) / wide;
  const std::int64_t row_blocks = (rows + kBlockRows - 1) / kBlockRows;
  const std::int64_t panel_blocks = (panels + kBlockPanels - 1) / kBlockPanels;
  const auto run_tiles = HWY_DYNAMIC_DISPATCH(tiles);
  // Equal parts of the inner dimension: what is done once per part costs the same for a short one.
  const std::int64_t parts = std::max<std::int64_t>(1, (depth + kDepth - 1) / kDepth);
  const std::int64_t part_depth = std::min(kDepth, ((depth + parts - 1) / parts + 3) / 4 * 4);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool has_limits = epilogue.low != -kInfinity || epilogue.high != kInfinity;
  const bool accumulates = epilogue.residual == c;
  const float* const residual = accumulates ? nullptr : epilogue.residual;
  // Each piece computes its tiles alone and in one order: the bits do not depend on who does it.
  const auto piece = [&](std::int64_t row_block, std::int64_t panel_block) {
    const std::int64_t row_end = std::min(rows, (row_block + 1) * kBlockRows);
    const std::int64_t panel_end = std::min(panels, (panel_block + 1) * kBlockPanels);
    std::int64_t k = 0;
    do {
      budget.poll();
      const std::int64_t deep = std::min(part_depth, depth - k);
      const std::int64_t first_panel = panel_block * kBlockPanels;
      const Panels from = panels_of(first_panel, panel_end - first_panel, k, deep);
      const std::int64_t row = row_block * kBlockRows, most = panels_at_once(row_end - row);
      for (std::int64_t panel = first_panel, at_once; panel < panel_end; panel += at_once) {
        at_once = panel + most <= panel_end ? most : 1;
        const std::int64_t column = panel * wide;
        TilePart part{};
        part.a = a + row * a_stride + k;
        part.a_stride = a_stride;
        part.panel = from.first + (panel - first_panel) * from.stride;
        part.panel_stride = from.stride;
        part.depth = deep;
        part.end.c = c + row * c_stride + column;
        part.end.c_stride = c_stride;
        part.end.columns = std::min(at_once * wide, columns - column);
        part.end.is_first = k == 0 && !accumulates;
        part.end.is_last = k + deep >= depth;
        part.end.bias = epilogue.bias ? epilogue.bias + column : nullptr;
        part.end.residual = residual ? residual + row * c_stride + column : nullptr;
        part.end.has_limits = has_limits;
        part.end.low = epilogue.low;
        part.end.high = epilogue.high;
        run_tiles(part, row_end - row, at_once);
      }
      k += deep;
    } while (k < depth);
    if (!epilogue.has_function) return;
    const std::int64_t first = panel_block * kBlockPanels * wide, last = std::min(columns, panel_end * wide);
    for (std::int64_t row = row_block * kBlockRows; row < row_end; ++row) {
      float* y = c + row * c_stride + first;
      apply(epilogue.function, y, y, last - first, epilogue.a, epilogue.b);
    }
  };
  // Small products are done by one thread; the pieces, and hence the bits, are the same.
  const std::int64_t pieces = row_blocks * panel_blocks;
  const std::int64_t grain =
      static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth) < kSmall ? pieces : 1;
  pool.parallel_for(pieces, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) piece(i / panel_blocks, i % panel_blocks);
  });
}

}  // namespace

void multiply(const float* a, std::int64_t rows, std::int64_t a_stride, const PackedMatrix& b, float* c,
              std::int64_t c_stride, const Epilogue& epilogue, ThreadPool& pool, const Budget& budget) {
  const std::int64_t wide = panel_columns(), depth = b.rows();
  const auto panels_of = [&](std::int64_t panel, std::int64_t, std::int64_t k, std::int64_t) {
    return Panels{b.panels() + (panel * depth + k) * wide, depth * wide};
  };
  multiply_by(a, rows, a_stride, depth, b.columns(), panels_of, c, c_stride, epilogue, pool, budget);
}

namespace {

/// Memory of this thread for the panels of a piece of work.
float* room_for_panels() {
  thread_local const std::shared_ptr<std::byte> kRoom =
      take_pages(static_cast<std::size_t>(kBlockPanels * kDepth * panel_columns()) * sizeof(float));
  return reinterpret_cast<float*>(kRoom.get());
}

}  // namespace

void multiply(const float* a, std::int64_t rows, std::int64_t a_stride, const LooseMatrix& b, float* c,
              std::int64_t c_stride, const Epilogue& epilogue, ThreadPool& pool, const Budget& budget) {
  const std::int64_t wide = panel_columns();
  const auto panels_of = [&](std::int64_t panel, std::int64_t count, std::int64_t k, std::int64_t deep) {
    float* room = room_for_panels();
    b.pack(k, deep, panel * wide, std::min(count * wide, b.columns - panel * wide), room);
    return Panels{room, deep * wide};
  };
  multiply_by(a, rows, a_stride, b.rows, b.columns, panels_of, c, c_stride, epilogue, pool, budget);
}

namespace {

/// What happens to n finished sums of a row, from a column on.
void finish(const Epilogue& e, std::int64_t column, std::int64_t n, float* y) {
  if (e.bias) apply(Binary::add, y, 1, e.bias + column, 1, y, n);
  if (e.residual) apply(Binary::add, y, 1, e.residual + column, 1, y, n);
  apply(Unary::clip, y, y, n, e.low, e.high);
  if (e.has_function) apply(e.function, y, y, n, e.a, e.b);
}

/// One row is multiplied as the integers are read.
void multiply_one_row(const float* a, const BitMatrix& b, float* c, const Epilogue& epilogue, ThreadPool& pool,
                      const Budget& budget) {
  const std::int64_t wide = panel_columns(), panels = (b.columns() + wide - 1) / wide;
  const std::int64_t grain = std::max<std::int64_t>(1, kSmall / (wide * b.rows()));
  pool.parallel_for(panels, grain, [&](std::int64_t begin, std::int64_t end) {
    budget.poll();
    std::vector<float> sums(static_cast<std::size_t>(wide));
    for (std::int64_t panel = begin; panel < end; ++panel) {
      const std::int64_t column = panel * wide, n = std::min(wide, b.columns() - column);
      multiply_row(a, b.panel(panel), sums.data());
      finish(epilogue, column, n, sums.data());
      std::copy_n(sums.data(), n, c + column);
    }
  });
}

}  // namespace

void multiply(const float* a, std::int64_t rows, std::int64_t a_stride, const BitMatrix& b, float* c,
              std::int64_t c_stride, const Epilogue& epilogue, ThreadPool& pool, const Budget& budget) {
  if (rows == 1) return multiply_one_row(a, b, c, epilogue, pool, budget);
  const std::int64_t wide = panel_columns();
  const auto panels_of = [&](std::int64_t panel, std::int64_t count, std::int64_t k, std::int64_t deep) {
    float* room = room_for_panels();
    for (std::int64_t i = 0; i < count; ++i) expand(b.panel(panel + i), k, deep, room + i * deep * wide);
    return Panels{room, deep * wide};
  };
  multiply_by(a, rows, a_stride, b.rows(), b.columns(), panels_of, c, c_stride, epilogue, pool, budget);
}

}  // namespace ingot::engine
#endif
