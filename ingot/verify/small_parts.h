#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingot/ir/array.h"

namespace ingot::verify {

/// A row, column or channel whose numbers are far smaller than the tensor's largest, and in which two tensors differ
/// that agree beside that: a score beside coordinates.
struct PartThatDiffers {
  std::string place;  // "[:,5]"
  double scale = 0;   // its own
  double value = 0, allowed = 0;
  std::int64_t worst = 0;  // the element
};

/// What two runtimes give, and what both models give in double, in the same form.
struct ValueOfBoth {
  const Array &a, &b, &a_exact, &b_exact;
  double range = 0;  // of a function whose results lie in [0, range], as in Noise
};

/// Beyond rounding by far: a thousandth of the part's own scale, eight times the noise of both within it,
/// and what implementations of a bounded function round to.
std::optional<PartThatDiffers> find_small_part(const ValueOfBoth& value);

}  // namespace ingot::verify
