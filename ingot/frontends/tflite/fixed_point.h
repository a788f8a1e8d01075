#pragma once
#include <cstdint>
#include <vector>

namespace ingot::frontends::tflite {

// How TFLite's integer kernels compute with numbers of 16 bits whose last 15 bits are behind the point, or fewer where
// some stand before it.

/// The logistic function of all numbers with 3 bits before the point, from the least on; the results have none.
std::vector<std::int16_t> fixed_sigmoid();
/// The hyperbolic tangent of all numbers with `integer_bits` (0 to 6) before the point.
std::vector<std::int16_t> fixed_tanh(int integer_bits);

/// A real factor as TFLite holds it: 31 bits and a shift.
struct FixedFactor {
  double mantissa = 0;  ///< in [0.5, 1), a multiple of 2^-31
  int exponent = 0;
};
FixedFactor fixed_factor(double factor);

}  // namespace ingot::frontends::tflite
