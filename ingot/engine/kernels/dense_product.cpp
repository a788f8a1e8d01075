// Products of float matrices that are used once, in any order of their elements: tiles of six rows in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/dense_product.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/cache_control.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/dense_product.h"

#include <algorithm>
#include <limits>

#include "ingot/base/threads.h"
#include "ingot/engine/kernels/tile_end.h"
#include "ingot/engine/kernels/transpose_tiles.h"
#include "ingot/engine/pages.h"

#ifndef INGOT_ENGINE_DENSE_TILE
#define INGOT_ENGINE_DENSE_TILE  // this file is compiled once per kind of CPU
namespace ingot::engine {

/// Some rows of a times one panel, over a part of the inner dimension.
struct DenseTile {
  const float* a;
  std::int64_t a_stride;  // from row to row; 0: six rows are interleaved
  const float* panel;     // depth x panel_width
  std::int64_t depth;
  TileEnd end;
};

}  // namespace ingot::engine
#endif

#include "ingot/engine/kernels/tile_end.inc"

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {

/// R rows of two vectors each: the sums take 2 * R of sixteen registers.
template <int R, bool kIsInterleaved> HWY_INLINE void tile(const DenseTile& p) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V sum[R][2];
  for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = hn::Zero(d);
  const float* HWY_RESTRICT b = p.panel;
  const float* HWY_RESTRICT a = p.a;
  const std::int64_t row = kIsInterleaved ? 1 : p.a_stride, step = kIsInterleaved ? kTileRows : 1;
  for (int r = 0; r < R; ++r) hwy::Prefetch(p.end.c + r * p.end.c_stride);
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
  end_tile<R, 2>(p.end, sum);
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

template <bool kIsInterleaved> void tiles_of(const PiecePart& p) {
  const std::int64_t wide = 2 * static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t panel_stride = p.panel_stride ? p.panel_stride : p.depth * wide;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Epilogue& epilogue = p.epilogue;
  DenseTile tile{};
  tile.a_stride = p.a_stride;
  tile.depth = p.depth;
  tile.end.c_stride = p.c_stride;
  tile.end.is_first = p.is_first;
  tile.end.is_last = p.is_last;
  tile.end.has_limits = epilogue.low != -kInfinity || epilogue.high != kInfinity;
  tile.end.low = epilogue.low;
  tile.end.high = epilogue.high;
  for (std::int64_t column = 0; column < p.columns; column += wide) {
    tile.panel = p.panels + column / wide * panel_stride;
    tile.end.columns = std::min(wide, p.columns - column);
    tile.end.bias = epilogue.bias ? epilogue.bias + column : nullptr;
    for (std::int64_t row = 0; row < p.rows; row += kTileRows) {
      tile.a = p.a + row * (kIsInterleaved ? p.depth : p.a_stride);
      const std::int64_t at = row * p.c_stride + column;
      tile.end.c = p.c + at;
      tile.end.residual = epilogue.residual ? epilogue.residual + at : nullptr;
      tile_of<kIsInterleaved>(tile, std::min(kTileRows, p.rows - row));
    }
  }
}

void tiles(const PiecePart& p) { return p.a_stride == 0 ? tiles_of<true>(p) : tiles_of<false>(p); }

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cstring>
#include <vector>

namespace ingot::engine {
namespace {

HWY_EXPORT(tiles);

constexpr std::int64_t kFewestColumns = 32;  // of a piece, unless there are fewer
constexpr std::int64_t kFewestRows = 48;
constexpr std::int64_t kWidestPiece = 2 * kPieceColumns;
constexpr std::int64_t kLine = 16;    // elements of a line of the cache
constexpr std::int64_t kAhead = 12;   // rows from which lines are asked for before they are read
constexpr std::int64_t kAtOnce = 16;  // lines of the source that are held while all panels are written
constexpr std::int64_t kUsual = 16, kWidestPanel = 64;  // columns of a panel

struct Room {
  std::shared_ptr<std::byte> a = take_pages(kPieceRows * kPieceDepth * sizeof(float));
  std::shared_ptr<std::byte> b = take_pages((kWidestPiece + kWidestPanel) * kPieceDepth * sizeof(float));
};

/// Room that is kept for the next product, unless that needs more.
class GrowingRoom {
 public:
  float* of(std::int64_t elements) {
    if (elements > elements_) {
      pages_ = take_pages(static_cast<std::size_t>(elements) * sizeof(float));
      elements_ = elements;
    }
    return reinterpret_cast<float*>(pages_.get());
  }

 private:
  std::int64_t elements_ = 0;
  std::shared_ptr<std::byte> pages_;
};

const std::uint32_t* words(const float* x) { return reinterpret_cast<const std::uint32_t*>(x); }
std::uint32_t* words(float* x) { return reinterpret_cast<std::uint32_t*>(x); }

std::int64_t blocks(std::int64_t size, std::int64_t block) { return (size + block - 1) / block; }

/// `size` in equal parts of at most `most`, each a multiple of `unit`.
std::int64_t even_part(std::int64_t size, std::int64_t most, std::int64_t unit) {
  const std::int64_t parts = std::max<std::int64_t>(1, blocks(size, most));
  return std::max(unit, blocks(blocks(size, parts), unit) * unit);
}

Cut::Limits limits_for(std::int64_t rows, std::int64_t columns, std::int64_t count) {
  constexpr std::int64_t kEnoughPieces = 16;  // of all products
  Cut::Limits limits;
  limits.enough = blocks(kEnoughPieces, count);
  // Rows that are brought into order for one piece alone are still in the cache when it reads them.
  limits.keeps_columns = columns > kPieceColumns && columns <= kWidestPiece && rows >= 2 * kPieceRows;
  if (limits.keeps_columns) limits.columns = kWidestPiece;
  return limits;
}

}  // namespace

void interleave_rows(const MatrixView& a, std::int64_t rows, std::int64_t depth, float* to) {
  if (a.column_stride == 1) {
    for (std::int64_t row = 0; row < rows; row += kTileRows) {
      const float* in = a.from(row, 0).data;
      float* out = to + row * depth;
      const std::int64_t there = std::min(kTileRows, rows - row);
      if (there == kTileRows) {
        transpose_words(words(in), a.row_stride, words(out), kTileRows, depth, kTileRows);
        continue;
      }
      for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t r = 0; r < there; ++r) out[k * kTileRows + r] = in[r * a.row_stride + k];
    }
    return;
  }
  // So many rows fill whole lines of the cache, which are then read once.
  constexpr std::int64_t kTilesAtOnce = 8;
  for (std::int64_t first = 0; first < rows; first += kTilesAtOnce * kTileRows) {
    const std::int64_t last = std::min(rows, first + kTilesAtOnce * kTileRows);
    const std::int64_t whole = a.row_stride == 1 ? (last - first) / kTileRows : 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      const float* in = a.from(first, k).data;
      float* out = to + first * depth + k * kTileRows;
      for (std::int64_t line = 0; line < whole * kTileRows; line += kLine)
        hwy::Prefetch(in + kAhead * a.column_stride + line);
      for (std::int64_t i = 0; i < whole; ++i, in += kTileRows, out += kTileRows * depth)
        std::memcpy(out, in, kTileRows * sizeof(float));
    }
    for (std::int64_t row = first + whole * kTileRows; row < last; row += kTileRows) {
      const std::int64_t there = std::min(kTileRows, last - row);
      for (std::int64_t k = 0; k < depth; ++k) {
        const float* in = a.from(row, k).data;
        float* out = to + row * depth + k * kTileRows;
        for (std::int64_t r = 0; r < there; ++r) out[r] = in[r * a.row_stride];
      }
    }
  }
}

void pack_panels(const MatrixView& b, std::int64_t depth, std::int64_t columns, float* to) {
  const std::int64_t wide = panel_columns();
  if (b.column_stride == 1) {
    // Some rows at a time: the panels' lines for one row are where they would push each other out of the cache.
    for (std::int64_t k = 0; k < depth; k += kAtOnce) {
      const std::int64_t last = std::min(depth, k + kAtOnce);
      for (std::int64_t first = 0; first < columns; first += wide) {
        const float* in = b.from(k, first).data;
        float* out = to + first * depth + k * wide;
        const std::int64_t there = std::min(wide, columns - first);
        if (there == kUsual && wide == kUsual) {
          for (std::int64_t i = k; i < last; ++i, in += b.row_stride, out += kUsual) {
            hwy::Prefetch(in + kAtOnce * b.row_stride);
            std::memcpy(out, in, kUsual * sizeof(float));
          }
          continue;
        }
        for (std::int64_t i = k; i < last; ++i, in += b.row_stride, out += wide) {
          std::copy_n(in, there, out);
          std::fill(out + there, out + wide, 0.0f);
        }
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

void multiply_part(const PiecePart& p) { HWY_DYNAMIC_DISPATCH(tiles)(p); }

Cut::Cut(std::int64_t rows, std::int64_t columns, Limits limits) {
  const std::int64_t wide = panel_columns();
  std::int64_t most_rows = kPieceRows, most_columns = limits.columns;
  const auto cut = [&] {
    block_rows = even_part(rows, most_rows, kTileRows);
    block_columns = even_part(columns, most_columns, wide);
    row_blocks = blocks(rows, block_rows);
    column_blocks = blocks(columns, block_columns);
  };
  cut();
  while (pieces() < limits.enough) {
    const bool can_narrow = !limits.keeps_columns && most_columns > kFewestColumns,
               can_shorten = most_rows > kFewestRows;
    if (!can_narrow && !can_shorten) break;
    if (can_narrow && (!can_shorten || most_columns >= most_rows / 2))
      most_columns /= 2;
    else
      most_rows /= 2;
    cut();
  }
}

DenseProduct::DenseProduct(std::int64_t rows, std::int64_t depth, std::int64_t columns, std::int64_t count)
    : rows_(rows), depth_(depth), columns_(columns), cut_(rows, columns, limits_for(rows, columns, count)) {}

std::int64_t DenseProduct::whole_rows() const { return blocks(rows_, kTileRows) * kTileRows; }
std::int64_t DenseProduct::whole_columns() const { return blocks(columns_, panel_columns()) * panel_columns(); }

double DenseProduct::work() const {
  return static_cast<double>(std::min(rows_, cut_.block_rows)) *
         static_cast<double>(std::min(columns_, cut_.block_columns)) * static_cast<double>(depth_);
}

void DenseProduct::run(std::int64_t piece, const MatrixView& a, const MatrixView& b, float* c, std::int64_t c_stride,
                       const Epilogue& epilogue, const Budget& budget, const Shared& shared) const {
  thread_local const Room kRoom;
  auto* const a_room = reinterpret_cast<float*>(kRoom.a.get());
  auto* const b_room = reinterpret_cast<float*>(kRoom.b.get());
  const std::int64_t first_row = piece / cut_.column_blocks * cut_.block_rows;
  const std::int64_t first_column = piece % cut_.column_blocks * cut_.block_columns;
  const std::int64_t at = first_row * c_stride + first_column;
  PiecePart part;
  part.rows = std::min(cut_.block_rows, rows_ - first_row);
  part.columns = std::min(cut_.block_columns, columns_ - first_column);
  part.c = c + at;
  part.c_stride = c_stride;
  part.epilogue = epilogue;
  if (epilogue.bias) part.epilogue.bias += first_column;
  if (epilogue.residual) part.epilogue.residual += at;
  std::int64_t k = 0;
  do {
    budget.poll();
    part.depth = std::min(kPieceDepth, depth_ - k);
    part.is_first = k == 0;
    part.is_last = k + part.depth >= depth_;
    if (shared.panels) {
      part.panels = shared.panels + k * whole_columns() + first_column * part.depth;
    } else {
      pack_panels(b.from(k, first_column), part.depth, part.columns, b_room);
      part.panels = b_room;
    }
    if (shared.interleaved) {
      part.a = shared.interleaved + k * whole_rows() + first_row * part.depth;
    } else if (a.column_stride == 1 && part.columns <= kPieceColumns) {
      part.a = a.from(first_row, k).data;
      part.a_stride = a.row_stride;
    } else {
      interleave_rows(a.from(first_row, k), part.rows, part.depth, a_room);
      part.a = a_room;
    }
    multiply_part(part);
    k += part.depth;
  } while (k < depth_);
}

void DenseProduct::run(const MatrixView& a, const MatrixView& b, float* c, std::int64_t c_stride,
                       const Epilogue& epilogue, ThreadPool& pool, const Budget& budget) const {
  constexpr double kSmall = 1 << 18;  // multiplications for which it does not pay to wake another thread
  const auto grain = static_cast<std::int64_t>(std::min(kSmall / (work() + 1), 1e9)) + 1;
  // What many pieces read is brought into order once, for a part of the inner dimension after the other.
  constexpr std::int64_t kMostShared = 1 << 21;  // elements
  thread_local GrowingRoom a_room, b_room;
  float *interleaved = nullptr, *panels = nullptr;
  if (cut_.column_blocks > 1 && (a.column_stride != 1 || whole_rows() * depth_ <= kMostShared))
    interleaved = a_room.of(whole_rows() * depth_);
  if (cut_.row_blocks > 1 && whole_columns() * depth_ <= kMostShared) panels = b_room.of(whole_columns() * depth_);
  constexpr std::int64_t kRows = 384, kColumns = 128;
  const std::int64_t parts = blocks(depth_, kPieceDepth);
  const std::int64_t row_strips = interleaved ? blocks(rows_, kRows) : 0;
  const std::int64_t column_strips = panels ? blocks(columns_, kColumns) : 0;
  const std::int64_t strips = row_strips + column_strips;
  pool.parallel_for(strips * parts, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t strip = i % strips, k = i / strips * kPieceDepth;
      const std::int64_t deep = std::min(kPieceDepth, depth_ - k);
      if (strip < row_strips) {
        const std::int64_t row = strip * kRows;
        interleave_rows(a.from(row, k), std::min(kRows, rows_ - row), deep,
                        interleaved + k * whole_rows() + row * deep);
      } else {
        const std::int64_t column = (strip - row_strips) * kColumns;
        pack_panels(b.from(k, column), deep, std::min(kColumns, columns_ - column),
                    panels + k * whole_columns() + column * deep);
      }
    }
  });
  const Shared shared{interleaved, panels};
  pool.parallel_for(pieces(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) run(i, a, b, c, c_stride, epilogue, budget, shared);
  });
}

}  // namespace ingot::engine
#endif
