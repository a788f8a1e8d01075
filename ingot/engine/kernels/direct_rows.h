#pragma once
#include <cstdint>

namespace ingot::engine {

inline constexpr std::int64_t kWide = 16;  // channels of a register: two blocks

/// A block of inputs (or one input) that a filter meets, and its weights: where they begin.
struct DirectTap {
  std::int64_t x, weights;
};

/// Neighbouring results of a row, of some registers of channels, over a part of the inputs.
struct DirectRow {
  const float* x;               // the first input of the first filter
  const DirectTap* taps;        // what a filter meets
  std::int64_t count;           // of those
  std::int64_t step;            // from one filter's first input to the next one's
  const float* weights;         // for each input that is met those of sixteen results
  std::int64_t weights_stride;  // from one register to the next
  float* y;
  std::int64_t y_stride;  // from one block to the next
  std::int64_t blocks;    // that exist
  bool is_first, is_last;
  const float* bias;      // or null
  const float* residual;  // or null
  float low, high;
};

/// Whether this CPU has 32 registers of sixteen floats. Without them sums are right, and slow.
bool has_wide_registers();

/// One or two registers of results at each of `count` positions, or four where inputs are in blocks and filters one or
/// two apart. `unit`: inputs that stand together, 8 or 1.
void sum_row(const DirectRow& p, std::int64_t count, std::int64_t registers, std::int64_t unit);

}  // namespace ingot::engine
