// Products of float matrices that are used once, in any order of their elements: tiles of six rows in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/dense_product.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/dense_product.h"

#include "ingot/base/threads.h"
#include "ingot/engine/kernels/transpose_tiles.h"
#include "ingot/engine/pages.h"

#ifndef INGOT_ENGINE_DENSE_TILE
#define INGOT_ENGINE_DENSE_TILE  // this file is compiled once per kind of CPU
namespace ingot::engine {

inline constexpr std::int64_t kTileRows = 6;

/// Some rows of a times one panel, over a part of the inner dimension.
struct DenseTile {
  const float* a;
  std::int64_t a_stride;  // from row to row; 0: six rows are interleaved
  const float* panel;     // depth x panel_width
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

const hn::ScalableTag<float> d;

/// R rows of two vectors each: the sums take 2 * R of sixteen registers.
template <int R, bool kIsInterleaved> HWY_INLINE void tile(const DenseTile& p) {
  using V = hn::Vec<decltype(d)>;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V sum[R][2];
  for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = hn::Zero(d);
  const float* HWY_RESTRICT b = p.panel;
  const float* HWY_RESTRICT a = p.a;
  const std::int64_t row = kIsInterleaved ? 1 : p.a_stride, step = kIsInterleaved ? kTileRows : 1;
  HWY_UNROLL(4)
  for (std::int64_t k = 0; k < p.depth; ++k) {
    const V b0 = hn::Load(d, b), b1 = hn::Load(d, b + lanes);
    HWY_UNROLL(6)
    for (int r = 0; r < R; ++r) {
      const V x = hn::Set(d, a[r * row]);
      sum[r][0] = hn::MulAdd(x, b0, sum[r][0]);
      sum[r][1] = hn::MulAdd(x, b1, sum[r][1]);
    }
    a += step;
    b += 2 * lanes;
  }
  const V low = hn::Set(d, p.low), high = hn::Set(d, p.high);
  HWY_ALIGN float part[hn::MaxLanes(d)] = {};
  for (int r = 0; r < R; ++r) {
    float* c = p.c + r * p.c_stride;
    for (int j = 0; j < 2; ++j) {
      V y = sum[r][j];
      const std::int64_t at = j * lanes, there = p.columns - at;
      if (there <= 0) break;
      const auto load = [&](const float* from) {
        if (there >= lanes) return hn::LoadU(d, from + at);
        for (std::int64_t i = 0; i < there; ++i) part[i] = from[at + i];
        return hn::Load(d, part);
      };
      if (!p.is_first) y = hn::Add(y, load(c));
      if (p.is_last) {
        if (p.bias) y = hn::Add(y, load(p.bias));
        if (p.residual) y = hn::Add(y, load(p.residual + r * p.c_stride));
        // Written so that NaN passes both comparisons.
        y = hn::IfThenElse(hn::Lt(y, low), low, y);
        y = hn::IfThenElse(hn::Gt(y, high), high, y);
      }
      if (there >= lanes) {
        hn::StoreU(y, d, c + at);
      } else {
        hn::Store(y, d, part);
        for (std::int64_t i = 0; i < there; ++i) c[at + i] = part[i];
      }
    }
  }
}

template <bool kIsInterleaved> void tile_of(const DenseTile& p, std::int64_t rows) {
  switch (rows) {
    case 6:
      return tile<6, kIsInterleaved>(p);
    case 5:
      return tile<5, kIsInterleaved>(p);
    case 4:
      return tile<4, kIsInterleaved>(p);
    case 3:
      return tile<3, kIsInterleaved>(p);
    case 2:
      return tile<2, kIsInterleaved>(p);
    default:
      return tile<1, kIsInterleaved>(p);
  }
}

void dense_tile(const DenseTile& p, std::int64_t rows) {
  return p.a_stride == 0 ? tile_of<true>(p, rows) : tile_of<false>(p, rows);
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cstring>
#include <vector>

namespace ingot::engine {
namespace {

HWY_EXPORT(dense_tile);

constexpr std::int64_t kFewestColumns = 32;  // of a piece, unless there are fewer
constexpr std::int64_t kFewestRows = 48;
constexpr std::int64_t kEnoughPieces = 8;               // for all threads to have work until the end
constexpr std::int64_t kUsual = 16, kWidestPanel = 64;  // columns of a panel

struct Room {
  std::shared_ptr<std::byte> a = take_pages(kPieceRows * kPieceDepth * sizeof(float));
  std::shared_ptr<std::byte> b = take_pages((kPieceColumns + kWidestPanel) * kPieceDepth * sizeof(float));
};

const std::uint32_t* words(const float* x) { return reinterpret_cast<const std::uint32_t*>(x); }
std::uint32_t* words(float* x) { return reinterpret_cast<std::uint32_t*>(x); }

std::int64_t blocks(std::int64_t size, std::int64_t block) { return (size + block - 1) / block; }

/// `size` in equal parts of at most `most`, each a multiple of `unit`.
std::int64_t even_part(std::int64_t size, std::int64_t most, std::int64_t unit) {
  const std::int64_t parts = std::max<std::int64_t>(1, blocks(size, most));
  return std::max(unit, blocks(blocks(size, parts), unit) * unit);
}

}  // namespace

void interleave_rows(const MatrixView& a, std::int64_t rows, std::int64_t depth, float* to) {
  constexpr std::int64_t kAtOnce = 16;  // lines of the source that are held while all rows are written
  for (std::int64_t first = 0; first < depth; first += kAtOnce) {
    const std::int64_t last = std::min(depth, first + kAtOnce);
    for (std::int64_t row = 0; row < rows; row += kTileRows) {
      float* out = to + row * depth + first * kTileRows;
      const float* in = a.data + row * a.row_stride + first * a.column_stride;
      const std::int64_t there = std::min(kTileRows, rows - row);
      if (a.row_stride == 1 && there == kTileRows) {
        for (std::int64_t k = first; k < last; ++k, in += a.column_stride, out += kTileRows)
          std::memcpy(out, in, kTileRows * sizeof(float));
      } else {
        for (std::int64_t k = first; k < last; ++k, in += a.column_stride, out += kTileRows)
          for (std::int64_t r = 0; r < there; ++r) out[r] = in[r * a.row_stride];
      }
    }
  }
}

void pack_panels(const MatrixView& b, std::int64_t depth, std::int64_t columns, float* to) {
  const std::int64_t wide = panel_columns();
  if (b.column_stride == 1) {
    for (std::int64_t k = 0; k < depth; ++k) {
      const float* in = b.data + k * b.row_stride;
      for (std::int64_t first = 0; first < columns; first += wide) {
        float* out = to + first * depth + k * wide;
        const std::int64_t there = std::min(wide, columns - first);
        if (there == kUsual && wide == kUsual) {
          std::memcpy(out, in + first, kUsual * sizeof(float));
          continue;
        }
        std::copy_n(in + first, there, out);
        std::fill(out + there, out + wide, 0.0f);
      }
    }
    return;
  }
  for (std::int64_t first = 0; first < columns; first += wide) {
    float* out = to + first * depth;
    const float* in = b.data + first * b.column_stride;
    const std::int64_t there = std::min(wide, columns - first);
    if (b.row_stride == 1) {
      transpose_words(words(in), b.column_stride, words(out), wide, depth, there);
    } else {
      for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t j = 0; j < there; ++j) out[k * wide + j] = in[k * b.row_stride + j * b.column_stride];
    }
    if (there < wide)
      for (std::int64_t k = 0; k < depth; ++k) std::fill(out + k * wide + there, out + (k + 1) * wide, 0.0f);
  }
}

void multiply_part(const PiecePart& p) {
  const auto run_tile = HWY_DYNAMIC_DISPATCH(dense_tile);
  const std::int64_t wide = panel_columns();
  const std::int64_t panel_stride = p.panel_stride ? p.panel_stride : p.depth * wide;
  for (std::int64_t column = 0; column < p.columns; column += wide)
    for (std::int64_t row = 0; row < p.rows; row += kTileRows) {
      DenseTile tile{};
      tile.a = p.a + row * (p.a_stride ? p.a_stride : p.depth);
      tile.a_stride = p.a_stride;
      tile.panel = p.panels + column / wide * panel_stride;
      tile.depth = p.depth;
      const std::int64_t at = row * p.c_stride + column;
      tile.c = p.c + at;
      tile.c_stride = p.c_stride;
      tile.columns = std::min(wide, p.columns - column);
      tile.is_first = p.is_first;
      tile.is_last = p.is_last;
      tile.bias = p.epilogue.bias ? p.epilogue.bias + column : nullptr;
      tile.residual = p.epilogue.residual ? p.epilogue.residual + at : nullptr;
      tile.low = p.epilogue.low;
      tile.high = p.epilogue.high;
      run_tile(tile, std::min(kTileRows, p.rows - row));
    }
}

Cut::Cut(std::int64_t rows, std::int64_t columns, bool keeps_columns) {
  const std::int64_t wide = panel_columns();
  std::int64_t most_rows = kPieceRows, most_columns = kPieceColumns;
  const auto cut = [&] {
    block_rows = even_part(rows, most_rows, kTileRows);
    block_columns = even_part(columns, most_columns, wide);
    row_blocks = blocks(rows, block_rows);
    column_blocks = blocks(columns, block_columns);
  };
  cut();
  while (pieces() < kEnoughPieces) {
    const bool can_narrow = !keeps_columns && most_columns > kFewestColumns, can_shorten = most_rows > kFewestRows;
    if (!can_narrow && !can_shorten) break;
    if (can_narrow && (!can_shorten || most_columns >= most_rows / 2))
      most_columns /= 2;
    else
      most_rows /= 2;
    cut();
  }
}

DenseProduct::DenseProduct(std::int64_t rows, std::int64_t depth, std::int64_t columns)
    : rows_(rows), depth_(depth), columns_(columns), cut_(rows, columns) {}

double DenseProduct::work() const {
  return static_cast<double>(std::min(rows_, cut_.block_rows)) *
         static_cast<double>(std::min(columns_, cut_.block_columns)) * static_cast<double>(depth_);
}

void DenseProduct::run(std::int64_t piece, const MatrixView& a, const MatrixView& b, float* c, std::int64_t c_stride,
                       const Epilogue& epilogue, const Budget& budget, const float* interleaved) const {
  thread_local const Room kRoom;
  auto* const a_room = reinterpret_cast<float*>(kRoom.a.get());
  auto* const b_room = reinterpret_cast<float*>(kRoom.b.get());
  const std::int64_t first_row = piece / cut_.column_blocks * cut_.block_rows;
  const std::int64_t first_column = piece % cut_.column_blocks * cut_.block_columns;
  const std::int64_t at = first_row * c_stride + first_column;
  PiecePart part;
  part.rows = std::min(cut_.block_rows, rows_ - first_row);
  part.columns = std::min(cut_.block_columns, columns_ - first_column);
  part.panels = b_room;
  part.c = c + at;
  part.c_stride = c_stride;
  part.epilogue = epilogue;
  if (epilogue.bias) part.epilogue.bias += first_column;
  if (epilogue.residual) part.epilogue.residual += at;
  const bool is_in_order = a.column_stride == 1;
  std::int64_t k = 0;
  do {
    budget.poll();
    part.depth = std::min(kPieceDepth, depth_ - k);
    part.is_first = k == 0;
    part.is_last = k + part.depth >= depth_;
    pack_panels({b.data + k * b.row_stride + first_column * b.column_stride, b.row_stride, b.column_stride}, part.depth,
                part.columns, b_room);
    part.a = a.data + first_row * a.row_stride + k * a.column_stride;
    part.a_stride = a.row_stride;
    if (interleaved) {
      part.a = interleaved + k * (blocks(rows_, kTileRows) * kTileRows) + first_row * part.depth;
      part.a_stride = 0;
    } else if (!is_in_order) {
      interleave_rows({part.a, a.row_stride, a.column_stride}, part.rows, part.depth, a_room);
      part.a = a_room;
      part.a_stride = 0;
    }
    multiply_part(part);
    k += part.depth;
  } while (k < depth_);
}

void DenseProduct::run(const MatrixView& a, const MatrixView& b, float* c, std::int64_t c_stride,
                       const Epilogue& epilogue, ThreadPool& pool, const Budget& budget) const {
  constexpr double kSmall = 1 << 18;  // multiplications for which it does not pay to wake another thread
  const auto grain = static_cast<std::int64_t>(std::min(kSmall / (work() + 1), 1e9)) + 1;
  // Rows that many pieces read are interleaved once, for a part of the inner dimension after the other.
  thread_local std::vector<float> room;
  const std::int64_t all_rows = blocks(rows_, kTileRows) * kTileRows;
  const float* interleaved = nullptr;
  if (a.column_stride != 1 && cut_.column_blocks > 1) {
    room.resize(std::max(room.size(), static_cast<std::size_t>(all_rows * depth_)));
    float* const to = room.data();
    interleaved = to;
    constexpr std::int64_t kRows = 96;
    const std::int64_t strips = blocks(rows_, kRows);
    pool.parallel_for(strips * blocks(depth_, kPieceDepth), grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t row = i % strips * kRows, k = i / strips * kPieceDepth;
        const std::int64_t deep = std::min(kPieceDepth, depth_ - k);
        interleave_rows({a.data + row * a.row_stride + k * a.column_stride, a.row_stride, a.column_stride},
                        std::min(kRows, rows_ - row), deep, to + k * all_rows + row * deep);
      }
    });
  }
  pool.parallel_for(pieces(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) run(i, a, b, c, c_stride, epilogue, budget, interleaved);
  });
}

}  // namespace ingot::engine
#endif
