#pragma once
#include <cstddef>
#include <cstdint>

#include "ingot/base/dtype.h"

namespace ingot::engine {

/// float16 or bfloat16.
constexpr bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }

/// n numbers of a half type, at any alignment, as floats: exact, NaN becomes quiet.
void widen(DType half, const std::byte* from, float* to, std::int64_t n);

/// n floats as numbers of a half type, rounded to nearest, ties to even.
void narrow(DType half, const float* from, std::byte* to, std::int64_t n);

}  // namespace ingot::engine
