#pragma once
#include <cstdint>

namespace ingot::engine {

/// Some columns, as wide as a panel, of a matrix of integers of 4 or 8 bits, row by row. Of 4 bits two rows share their
/// bytes, the first in the low halves; there are an even number of rows, and of rows of a block.
struct BitPanel {
  const std::uint8_t* integers;
  std::int64_t rows, bits, block;
  const float* scales;        // a row for each block of rows
  const std::uint8_t* zeros;  // likewise
};

/// Rows [first, first + count) as floats, one after the other; `first` and `count` are even.
void expand(const BitPanel& panel, std::int64_t first, std::int64_t count, float* to);

/// y = x times the columns of the panel.
void multiply_row(const float* x, const BitPanel& panel, float* y);

}  // namespace ingot::engine
