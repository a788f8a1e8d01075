#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "ingot/ir/array.h"

namespace ingot::verify {

/// How far apart two tensors are, in the unit that their type asks for.
struct Distance {
  enum class Unit {
    absolute,  // floats: the largest difference of two elements
    steps,     // 8- and 16-bit integers, which hold quantised values: what 99.9 % of the elements stay within
    elements,  // everything else: how many elements differ
  };
  Unit unit = Unit::absolute;
  double value = 0;         // infinite where one is NaN or infinite and the other is not
  double scale = 0;         // absolute: the largest finite magnitude of the first tensor
  std::int64_t worst = -1;  // the element that is farthest away; -1: all are equal
  std::int64_t differ = 0;  // elements that are not equal
  std::int64_t size = 0;
  DType dtype = DType::undefined;
};

/// Nothing if types or shapes do not allow a comparison. Integers of different widths are compared as numbers, and so
/// are floats of different widths: some runtimes know few types.
std::optional<Distance> distance(const Array& a, const Array& b);

/// How large a distance may be, and why.
struct Threshold {
  double value = 0;
  std::string source;
};

/// The policy: by type and the output's scale, and `noise`, the distance between runs of the model that differ by no
/// more than rounding; a threshold is at least four times that.
Threshold threshold_for(const Distance& d, const std::optional<Distance>& noise = std::nullopt);

/// "3.1e-07 of the scale 2.5", "1 step", "3 of 100 elements"
std::string text_of(const Distance& d);
/// The threshold in the same unit.
std::string text_of(const Threshold& threshold, const Distance& d);

}  // namespace ingot::verify
