#pragma once
#include <string>
#include <vector>

#include "ingot/ir/array.h"

namespace ingot::measure {

/// A tensor at a glance. The numbers leave out what is not finite, which is counted.
struct Statistics {
  bool has_numbers = false;  // real numbers, at least one of them finite
  double min = 0, mean = 0, max = 0;
  std::int64_t not_finite = 0;
  std::vector<std::string> first;  // at most the first six elements
};

Statistics statistics_of(const Array& array);

}  // namespace ingot::measure
