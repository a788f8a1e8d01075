#pragma once
#include <cstdint>

#include "ingot/base/dtype.h"

// Numbers of one type as those of another, compiled for each kind of CPU.

namespace ingot::engine {

/// y[i] = x[i] for n numbers. To a float: rounded once, to nearest even. From a float to an integer: towards zero, the
/// nearest that exists, 0 for NaN. Between integers: the low bits. To bool: whether it differs from 0.
using CastLoop = void (*)(const void* x, void* y, std::int64_t n);
/// Null: not for these types. They are float, double, bool and the integers of whole bytes.
CastLoop cast_loop(DType from, DType to);

/// Doubles as floats on the way to a smaller type: what is lost is told by the last bit (rounded to odd), so that
/// rounding again is as if it was done once.
void narrow_to_odd(const double* x, float* y, std::int64_t n);

/// z[i] = test[i * step] ? x[i * x_step] : y[i * y_step] for elements of some bytes; steps are 0 or 1.
using ChoiceLoop = void (*)(const bool* test, std::int64_t step, const void* x, std::int64_t x_step, const void* y,
                            std::int64_t y_step, void* z, std::int64_t n);
/// Null: elements are not of 1, 2, 4 or 8 bytes.
ChoiceLoop choice_loop(std::int64_t bytes);

}  // namespace ingot::engine
