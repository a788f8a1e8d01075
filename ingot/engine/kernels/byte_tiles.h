#pragma once
#include <cstdint>

#include "ingot/base/dtype.h"

// Loops over bytes whose channels are last: products with weights of 8 bits, exact in int32, and what comes after them.

namespace ingot::engine {

constexpr std::int64_t kByteColumns = 16;  // of a panel of weights
constexpr std::int64_t kBytePanels = 4;    // that a tile has at most

/// Rows of bytes times neighbouring panels.
struct ByteTiles {
  const std::uint8_t* rows;
  std::int64_t row_stride, count;
  const std::int8_t* panels;  // quads x kByteColumns x 4 elements each: four of a column side by side
  std::int64_t panel_stride, panel_count;
  std::int64_t quads;
  std::int32_t* sums;  // count rows of panel_count * kByteColumns
};

/// The ways of computing them, all with the same results.
enum class ByteMath {
  quads,  // one instruction multiplies four pairs of bytes and adds their products (AVX-512 VNNI)
  pairs   // bytes widened to int16, two products in one instruction
};
bool has_quads();
void multiply_quads(const ByteTiles& tiles);
void multiply(const ByteTiles& tiles, ByteMath math);

/// What makes bytes of sums: clamp(round((sum + offset - weight_zero * row_sum) * factor) + zero), halves rounded to
/// even. The lists have an entry per column, up to whole panels.
struct ByteScaling {
  const std::int32_t* offsets;
  const float* factors;
  const std::int32_t* weight_zeros;  // or null
  float zero, low, high;
  DType type;
};
/// `count` rows of `columns` each: the sums `stride` apart, the bytes `y_stride` apart. `row_sums`: for weight_zeros.
void scale_rows(const ByteScaling& scaling, const std::int32_t* sums, std::int64_t stride, const std::int32_t* row_sums,
                std::int64_t count, std::int64_t columns, std::byte* y, std::int64_t y_stride);

/// to[i] = from[i] ^ flip.
void copy_flipped(const std::byte* from, std::int64_t n, std::uint8_t flip, std::uint8_t* to);

/// What the filters of neighbouring results meet: `lines` x `runs` runs of bytes each, which become a row. Reads and
/// writes up to kByteSlack bytes behind a run; the rest of a row is filled with zeros.
struct ByteGather {
  const std::uint8_t* x;  // the first run of the first result
  std::int64_t step;      // to the next result
  std::int64_t lines, line_step, runs, run_step, run;
  std::uint8_t* rows;
  std::int64_t row_stride, count;
  std::int32_t* row_sums;  // or null
};
constexpr std::int64_t kByteSlack = 64;
void gather(const ByteGather& gather);

/// Neighbouring results of filters of one channel each: the sums of taps times weights. Weights lie by kByteColumns of
/// channels, then by pairs of taps, the two of a channel side by side. Reads and writes whole groups of kByteColumns.
struct ByteSlide {
  const std::uint8_t* x;     // the first tap of the first result
  std::int64_t step;         // to the next result
  const std::int64_t* taps;  // where they are, from the first
  std::int64_t tap_count, channels, count;
  const std::int16_t* weights;
  std::int32_t* sums;  // count rows of all channels, up to whole groups
};
void slide(const ByteSlide& slide);

/// sums[i] += x[i] for n bytes.
void add_to_sums(const std::byte* x, bool is_signed, std::int64_t n, std::int32_t* sums);

/// What is added: (x - zero) * scale.
struct ByteTerm {
  const std::byte* x;
  float scale, zero;
};
/// y = clamp(round((a + b) / scale) + zero), of bytes of one type, in float as three operators would do it.
void add_terms(const ByteTerm& a, const ByteTerm& b, std::int64_t n, float scale, float zero, float low, float high,
               DType type, std::byte* y);

}  // namespace ingot::engine
