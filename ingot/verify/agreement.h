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
  double largest = 0;       // elements that are integers: the largest difference of two
  double scale = 0;         // absolute: the largest finite magnitude of the first tensor
  std::int64_t worst = -1;  // the element that is farthest away; -1: all are equal
  std::int64_t differ = 0;  // elements that are not equal
  std::int64_t size = 0;
  DType dtype = DType::undefined;
};

/// Nothing if types or shapes do not allow a comparison. Integers of different widths are compared as numbers, and so
/// are floats of different widths: some runtimes know few types.
std::optional<Distance> distance(const Array& a, const Array& b);

/// The same where one side was rounded to `dtype` on the way.
Distance as_rounded(Distance d, DType dtype);

/// What rounding alone does to one value of a pair of models.
struct Noise {
  std::optional<Distance> own{};  // between runs in Ingot of the model that is judged
  std::optional<double> in_a{};   // how far a's runtime is from a's model in double,
  std::optional<double> in_b{};   // and b's runtime from b's; absent: not known, or not all that rounds was measured
  double range = 0;               // of a function whose results lie in [0, range]: what its implementations round to
};

/// How large a distance may be, and why.
struct Threshold {
  double value = 0;
  double largest = 0;  // of integers: as Distance::largest
  std::string source;
};

/// The policy. Where all of the noise was measured, little more than its sum; else by type and the output's scale, and
/// at least four times the model's own noise. Integers that rounding moves may be moved by four times as much, and four
/// times as many.
Threshold threshold_for(const Distance& d, const Noise& noise = {});
bool is_within(const Distance& d, const Threshold& threshold);

/// "3.1e-07 of the scale 2.5", "1 step", "3 of 100 elements, by 7 at most"
std::string text_of(const Distance& d);
/// The threshold in the same unit.
std::string text_of(const Threshold& threshold, const Distance& d);

}  // namespace ingot::verify
