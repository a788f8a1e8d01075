#pragma once
#include <cstdint>

#include "ingot/base/dtype.h"

// Loops over numbers of any type, compiled for each kind of CPU.

namespace ingot::engine {

enum class Pair : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,     // integers: towards zero, and no divisor may be 0
  remainder,  // of integers: the sign is the dividend's; no divisor may be 0
  modulo,     // of integers: the sign is the divisor's; no divisor may be 0
  maximum,    // NaN if one of them is
  minimum,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,  // of integers without sign; all bits are gone when shifted by the width of the type or more
  shift_right,
  equal,
  greater,
  greater_or_equal,
};

/// z[i] = op(x[i * x_step], y[i * y_step]) with steps of 0 or 1. Integers wrap around; tests give bool.
using PairLoop = void (*)(const void* x, std::int64_t x_step, const void* y, std::int64_t y_step, void* z,
                          std::int64_t n);
/// Null: not for numbers of this type.
PairLoop pair_loop(Pair op, DType type);

enum class Alone : std::uint8_t { absolute, negative, sign, not_, is_zero, is_nan };

using AloneLoop = void (*)(const void* x, void* y, std::int64_t n);
/// y[i] = op(x[i]); is_zero and is_nan give bool, and not_ turns all bits around. Null: not for numbers of this type.
AloneLoop alone_loop(Alone op, DType type);

/// Whether one of n integers is 0.
bool has_zero(DType type, const void* x, std::int64_t n);

}  // namespace ingot::engine
