// Products of 8-bit integers: pairs of them as int16 multiplied and added in one instruction, tiles of six rows held in
// registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/integer_gemm.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/integer_gemm.h"

#include <cstring>

#ifndef INGOT_ENGINE_INTEGER_TILE_PART
#define INGOT_ENGINE_INTEGER_TILE_PART  // this file is compiled once per kind of CPU
namespace ingot::engine {
/// Rows of a times some panels, over a part of the inner dimension. Panels hold two elements of a column side by side.
struct IntegerTilePart {
  const std::int16_t* a;
  std::int64_t a_stride;
  const std::uint8_t* panel;  // pairs x panel_width x 2
  std::int64_t panel_stride;  // bytes from one panel to the next
  std::int64_t pairs;
  std::int32_t* c;
  std::int64_t c_stride;
  std::int64_t columns;  // of the panels that exist
  bool is_first, is_last, is_signed;
  const std::int32_t* row_sums;  // of the tile's rows
  const std::int32_t* zeros;     // at the panel's first column, or one for all, or null
  bool has_one_zero;
};
}  // namespace ingot::engine
#endif

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

std::int64_t integer_panel_width() { return 8; }

void integer_tiles(const IntegerTilePart& p, std::int64_t rows, std::int64_t) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < p.columns; ++j) {
      const std::uint8_t* b = p.panel + j / 8 * p.panel_stride + j % 8 * 2;
      std::uint32_t sum = p.is_first ? 0 : static_cast<std::uint32_t>(p.c[r * p.c_stride + j]);
      for (std::int64_t k = 0; k < 2 * p.pairs; ++k) {
        const std::uint8_t byte = b[k / 2 * 16 + k % 2];
        const std::int32_t value = p.is_signed ? static_cast<std::int8_t>(byte) : byte;
        sum += static_cast<std::uint32_t>(value * p.a[r * p.a_stride + k]);
      }
      if (p.is_last && p.zeros)
        sum -= static_cast<std::uint32_t>(p.zeros[p.has_one_zero ? 0 : j]) * static_cast<std::uint32_t>(p.row_sums[r]);
      p.c[r * p.c_stride + j] = static_cast<std::int32_t>(sum);
    }
}

void zip_rows(const std::uint8_t* even, const std::uint8_t* odd, std::int64_t panels, std::int64_t stride,
              std::uint8_t* to) {
  for (std::int64_t i = 0; i < panels * 8; ++i) {
    to[i / 8 * stride + i % 8 * 2] = even[i];
    to[i / 8 * stride + i % 8 * 2 + 1] = odd[i];
  }
}

#else

const hn::ScalableTag<std::int32_t> d32;
const hn::Repartition<std::int16_t, decltype(d32)> d16;

std::int64_t integer_panel_width() { return 2 * static_cast<std::int64_t>(hn::Lanes(d32)); }

/// R rows and P panels of two vectors each; B is the type of the right operand.
template <int R, int P, class B> HWY_INLINE void integer_tile(const IntegerTilePart& p) {
  using V = hn::Vec<decltype(d32)>;
  using W = hn::Vec<decltype(d16)>;
  const hn::Rebind<B, decltype(d16)> bytes;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d32));
  V sum[R][2 * P], rest[R][2 * P];
  HWY_UNROLL(6)
  for (int r = 0; r < R; ++r)
    HWY_UNROLL(8)
    for (int j = 0; j < 2 * P; ++j) sum[r][j] = rest[r][j] = hn::Zero(d32);
  const B* HWY_RESTRICT b = reinterpret_cast<const B*>(p.panel);
  const std::int16_t* HWY_RESTRICT a = p.a;
  for (std::int64_t k = 0; k < p.pairs; ++k) {
    HWY_UNROLL(4)
    for (int q = 0; q < P; ++q) {
      const W b0 = hn::PromoteTo(d16, hn::LoadU(bytes, b + q * p.panel_stride));
      const W b1 = hn::PromoteTo(d16, hn::LoadU(bytes, b + q * p.panel_stride + 2 * lanes));
      HWY_UNROLL(6)
      for (int r = 0; r < R; ++r) {
        std::int32_t pair;
        std::memcpy(&pair, a + r * p.a_stride + 2 * k, sizeof(pair));
        const W x = hn::BitCast(d16, hn::Set(d32, pair));
        sum[r][2 * q] = hn::ReorderWidenMulAccumulate(d32, x, b0, sum[r][2 * q], rest[r][2 * q]);
        sum[r][2 * q + 1] = hn::ReorderWidenMulAccumulate(d32, x, b1, sum[r][2 * q + 1], rest[r][2 * q + 1]);
      }
    }
    b += 4 * lanes;
  }
  // From memory on: an array of vectors that a loop with a variable counter reads would be there all the time.
  HWY_ALIGN std::int32_t sums[R * 2 * P * hn::MaxLanes(d32)];
  HWY_UNROLL(6)
  for (int r = 0; r < R; ++r)
    HWY_UNROLL(8)
    for (int j = 0; j < 2 * P; ++j)
      hn::Store(hn::RearrangeToOddPlusEven(sum[r][j], rest[r][j]), d32, sums + (r * 2 * P + j) * lanes);
  HWY_ALIGN std::int32_t row[hn::MaxLanes(d32)] = {};
  for (int r = 0; r < R; ++r) {
    std::int32_t* c = p.c + r * p.c_stride;
    for (int j = 0; j < 2 * P; ++j) {
      V y = hn::Load(d32, sums + (r * 2 * P + j) * lanes);
      const std::int64_t at = j * lanes;
      const std::int64_t there = p.columns - at;
      if (there <= 0) break;
      const auto load = [&](const std::int32_t* from) {
        if (there >= lanes) return hn::LoadU(d32, from + at);
        for (std::int64_t i = 0; i < there; ++i) row[i] = from[at + i];
        return hn::Load(d32, row);
      };
      if (!p.is_first) y = hn::Add(y, load(c));
      if (p.is_last && p.zeros) {
        const V zeros = p.has_one_zero ? hn::Set(d32, *p.zeros) : load(p.zeros);
        y = hn::Sub(y, hn::Mul(zeros, hn::Set(d32, p.row_sums[r])));
      }
      if (there >= lanes) {
        hn::StoreU(y, d32, c + at);
      } else {
        hn::Store(y, d32, row);
        for (std::int64_t i = 0; i < there; ++i) c[at + i] = row[i];
      }
    }
  }
}

template <class B> HWY_INLINE void integer_tiles_of(const IntegerTilePart& p, std::int64_t rows, std::int64_t panels) {
  switch (rows) {
    case 6:
      return integer_tile<6, 1, B>(p);
    case 5:
      return integer_tile<5, 1, B>(p);
    case 4:
      return integer_tile<4, 1, B>(p);
    case 3:
      return panels == 2 ? integer_tile<3, 2, B>(p) : integer_tile<3, 1, B>(p);
    case 2:
      return panels == 2 ? integer_tile<2, 2, B>(p) : integer_tile<2, 1, B>(p);
    case 1:
      return panels == 4 ? integer_tile<1, 4, B>(p) : integer_tile<1, 1, B>(p);
    default:
      return;
  }
}

void integer_tiles(const IntegerTilePart& p, std::int64_t rows, std::int64_t panels) {
  if (p.is_signed)
    integer_tiles_of<std::int8_t>(p, rows, panels);
  else
    integer_tiles_of<std::uint8_t>(p, rows, panels);
}

/// Two rows of a matrix side by side: `panels` of them, `stride` bytes apart.
void zip_rows(const std::uint8_t* even, const std::uint8_t* odd, std::int64_t panels, std::int64_t stride,
              std::uint8_t* to) {
  const hn::Rebind<std::uint8_t, decltype(d16)> bytes;
  const std::int64_t wide = static_cast<std::int64_t>(hn::Lanes(bytes));
  for (std::int64_t i = 0; i < panels; ++i)
    hn::StoreInterleaved2(hn::LoadU(bytes, even + i * wide), hn::LoadU(bytes, odd + i * wide), bytes, to + i * stride);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "ingot/base/threads.h"
#include "ingot/engine/pages.h"

namespace ingot::engine {
namespace {

HWY_EXPORT(integer_panel_width);
HWY_EXPORT(integer_tiles);
HWY_EXPORT(zip_rows);

constexpr std::int64_t kTileRows = 6;
constexpr std::int64_t kDepth = 768;      // even; a panel of this depth stays in the first-level cache
constexpr std::int64_t kBlockRows = 144;  // rows of a that stay in the second-level cache
constexpr std::int64_t kBlockPanels = 8;  // panels that one piece of work covers
constexpr std::int64_t kSmall = 1 << 19;  // multiplications for which it does not pay to wake another thread

std::int64_t panel_width() {
  static const std::int64_t kColumns = HWY_DYNAMIC_DISPATCH(integer_panel_width)();
  return kColumns;
}

std::int64_t even(std::int64_t n) { return n + n % 2; }

/// Panels that a tile of so many rows covers: few rows alone have too few sums to keep the arithmetic units busy.
constexpr std::int64_t panels_at_once(std::int64_t rows) { return rows == 1 ? 4 : rows <= 3 ? 2 : 1; }

/// Rows [k, k + deep) of `count` panels from `first`, `stride` bytes apart; k is even. A row that lacks a partner gets
/// zeros.
void pack(const ByteMatrix& b, std::int64_t k, std::int64_t deep, std::int64_t first, std::int64_t count,
          std::int64_t stride, std::uint8_t* to) {
  const std::int64_t wide = panel_width(), columns = std::min(count * wide, b.columns - first * wide);
  thread_local std::vector<std::uint8_t> room;
  room.resize(std::max(room.size(), static_cast<std::size_t>(2 * count * wide)));
  std::uint8_t *even_row = room.data(), *odd_row = room.data() + count * wide;
  std::fill(even_row + columns, odd_row, std::uint8_t{0});
  std::fill(odd_row + columns, odd_row + count * wide, std::uint8_t{0});
  const auto zip = HWY_DYNAMIC_DISPATCH(zip_rows);
  for (std::int64_t i = 0; i < deep; i += 2) {
    b.read(k + i, first * wide, columns, even_row);
    if (i + 1 < deep)
      b.read(k + i + 1, first * wide, columns, odd_row);
    else
      std::fill(odd_row, odd_row + columns, std::uint8_t{0});
    zip(even_row, odd_row, count, stride, to + i * wide);
  }
}

/// Some panels over a part of the inner dimension.
struct Panels {
  const std::uint8_t* first;
  std::int64_t stride;  // bytes from one panel to the next
};

/// `panels_of(panel, count, k, deep)` gives Panels; called on the thread that then reads them.
template <class F>
void multiply_by(const CentredRows& a, std::int64_t first_row, std::int64_t rows, std::int64_t columns, bool is_signed,
                 const F& panels_of, const ColumnZeros& zeros, std::int32_t* c, std::int64_t c_stride, ThreadPool& pool,
                 const Budget& budget) {
  const std::int64_t wide = panel_width(), depth = a.depth();
  const std::int64_t panels = (columns + wide - 1) / wide;
  const std::int64_t row_blocks = (rows + kBlockRows - 1) / kBlockRows;
  const std::int64_t panel_blocks = (panels + kBlockPanels - 1) / kBlockPanels;
  const auto run_tiles = HWY_DYNAMIC_DISPATCH(integer_tiles);
  const auto piece = [&](std::int64_t row_block, std::int64_t panel_block) {
    const std::int64_t row_end = std::min(rows, (row_block + 1) * kBlockRows);
    const std::int64_t first_panel = panel_block * kBlockPanels;
    const std::int64_t panel_end = std::min(panels, first_panel + kBlockPanels);
    std::int64_t k = 0;
    do {
      budget.poll();
      const std::int64_t deep = std::min(kDepth, depth - k);
      const Panels from = panels_of(first_panel, panel_end - first_panel, k, deep);
      const auto tile_at = [&](std::int64_t row, std::int64_t panel, std::int64_t at_once) {
        const std::int64_t column = panel * wide, count = std::min(kTileRows, row_end - row);
        std::int32_t row_sums[kTileRows];
        for (std::int64_t i = 0; i < count; ++i) row_sums[i] = a.sum(first_row + row + i);
        IntegerTilePart part{};
        part.a = a.row(first_row + row) + k;
        part.a_stride = a.stride();
        part.panel = from.first + (panel - first_panel) * from.stride;
        part.panel_stride = from.stride;
        part.pairs = even(deep) / 2;
        part.c = c + row * c_stride + column;
        part.c_stride = c_stride;
        part.columns = std::min(at_once * wide, columns - column);
        part.is_first = k == 0;
        part.is_last = k + deep >= depth;
        part.is_signed = is_signed;
        part.row_sums = row_sums;
        part.has_one_zero = zeros.size() == 1;
        if (!zeros.empty()) part.zeros = zeros.data() + (part.has_one_zero ? 0 : column);
        run_tiles(part, count, at_once);
      };
      const std::int64_t most = panels_at_once(row_end - row_block * kBlockRows);
      for (std::int64_t panel = first_panel, at_once; panel < panel_end; panel += at_once) {
        at_once = panel + most <= panel_end ? most : 1;
        for (std::int64_t row = row_block * kBlockRows; row < row_end; row += kTileRows) tile_at(row, panel, at_once);
      }
      k += deep;
    } while (k < depth);
  };
  const std::int64_t pieces = row_blocks * panel_blocks;
  const std::int64_t grain =
      static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth) < kSmall ? pieces : 1;
  pool.parallel_for(pieces, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) piece(i / panel_blocks, i % panel_blocks);
  });
}

}  // namespace

ByteMatrix ByteMatrix::dense(const void* data, DType type, std::int64_t rows, std::int64_t columns) {
  ByteMatrix matrix{rows, columns, type == DType::i8, {}};
  matrix.read = [data, columns](std::int64_t row, std::int64_t first, std::int64_t count, std::uint8_t* to) {
    std::memcpy(to, static_cast<const std::uint8_t*>(data) + row * columns + first, static_cast<std::size_t>(count));
  };
  return matrix;
}

std::uint64_t PackedBytes::byte_size(std::int64_t rows, std::int64_t columns) {
  const std::int64_t wide = panel_width();
  return static_cast<std::uint64_t>((columns + wide - 1) / wide * wide * even(rows));
}

PackedBytes::PackedBytes(const ByteMatrix& b, ThreadPool& pool, const Budget& budget)
    : rows_(b.rows), columns_(b.columns), is_signed_(b.is_signed) {
  const std::int64_t wide = panel_width(), count = (columns_ + wide - 1) / wide;
  panels_ = take_pages(static_cast<std::size_t>(byte_size(rows_, columns_)));
  auto* panels = reinterpret_cast<std::uint8_t*>(panels_.get());
  // Rows two by two, read from left to right.
  const std::int64_t grain = std::max<std::int64_t>(1, (std::int64_t{1} << 17) / std::max<std::int64_t>(1, columns_));
  pool.parallel_for(even(rows_) / 2, grain, [&](std::int64_t begin, std::int64_t end) {
    budget.poll();
    const std::int64_t k = 2 * begin, deep = std::min(2 * end, rows_) - k;
    pack(b, k, deep, 0, count, even(rows_) * wide, panels + k * wide);
  });
}

void multiply(const CentredRows& a, std::int64_t first, std::int64_t count, const PackedBytes& b,
              const ColumnZeros& zeros, std::int32_t* c, std::int64_t c_stride, ThreadPool& pool,
              const Budget& budget) {
  const std::int64_t wide = panel_width(), stride = even(b.rows()) * wide;
  const auto panels_of = [&](std::int64_t panel, std::int64_t, std::int64_t k, std::int64_t) {
    return Panels{b.panels() + panel * stride + k * wide, stride};
  };
  multiply_by(a, first, count, b.columns(), b.is_signed(), panels_of, zeros, c, c_stride, pool, budget);
}

void multiply(const CentredRows& a, std::int64_t first, std::int64_t count, const ByteMatrix& b,
              const ColumnZeros& zeros, std::int32_t* c, std::int64_t c_stride, ThreadPool& pool,
              const Budget& budget) {
  const std::int64_t wide = panel_width();
  const auto panels_of = [&](std::int64_t panel, std::int64_t panels, std::int64_t k, std::int64_t deep) {
    thread_local const std::shared_ptr<std::byte> kRoom =
        take_pages(static_cast<std::size_t>(kBlockPanels * kDepth * panel_width()));
    auto* room = reinterpret_cast<std::uint8_t*>(kRoom.get());
    const std::int64_t stride = even(deep) * wide;
    pack(b, k, deep, panel, panels, stride, room);
    return Panels{room, stride};
  };
  multiply_by(a, first, count, b.columns, b.is_signed, panels_of, zeros, c, c_stride, pool, budget);
}

}  // namespace ingot::engine
#endif
