// A tensor in a few numbers.
#include "ingot/measure/statistics.h"

#include <algorithm>
#include <cmath>

#include "ingot/verify/element_text.h"

namespace ingot::measure {

Statistics statistics_of(const Array& array) {
  Statistics s;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(6, array.size()); ++i)
    s.first.push_back(verify::element_text(array, i));
  if (array.dtype() == DType::string || is_complex(array.dtype())) return s;
  double sum = 0;
  std::int64_t count = 0;
  for (const double v : array.to_doubles()) {
    if (!std::isfinite(v)) {
      ++s.not_finite;
      continue;
    }
    s.min = count ? std::min(s.min, v) : v;
    s.max = count ? std::max(s.max, v) : v;
    sum += v;
    ++count;
  }
  s.has_numbers = count > 0;
  if (count) s.mean = sum / static_cast<double>(count);
  return s;
}

}  // namespace ingot::measure
