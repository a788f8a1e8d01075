#pragma once
#include "ingot/engine/kernels/typed_loops.h"

// Functions of floats and doubles a vector at a time, compiled for each kind of CPU.

namespace ingot::engine {

enum class Function : std::uint8_t {
  acos,
  acosh,
  asin,
  asinh,
  atan,
  atanh,
  cos,
  cosh,
  exp,
  log,
  mish,  // x * tanh(log(1 + exp(x)))
  sigmoid,
  sin,
  sinh,
  softsign,  // x / (1 + |x|)
  sqrt,
  tan,
  tanh,
};

/// Within 4 units in the last place of float or double. Null: not for this type.
AloneLoop function_loop(Function function, DType type);

/// Pairs of n numbers each turned by angles: y = x * cos - other * sin, other = x * sin + other * cos, where `other` is
/// n elements behind x, or, interleaved, its neighbour.
void rotate_pairs(const float* x, const float* cosines, const float* sines, float* y, std::int64_t n,
                  bool is_interleaved);

}  // namespace ingot::engine
