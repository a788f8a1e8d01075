#pragma once
#include <optional>
#include <string>

#include "ingot/ir/array.h"

namespace ingot::verify {

/// How near two values must be: |a - b| <= atol + rtol * |b| + scale * max|b| for each element, b the expected one; NaN
/// and infinities in the same places. Integers may differ by `steps`. Types, shapes, strings and bools are exact.
struct Tolerance {
  double rtol = 1e-3, atol = 1e-7;
  double scale = 0;
  std::int64_t steps = 0;
};

/// What differs, where and by how much; nothing if the values agree.
std::optional<std::string> difference(const Datum& got, const Datum& expected, const Tolerance& tolerance = {});

}  // namespace ingot::verify
