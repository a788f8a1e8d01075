// How near one model's numbers are to another's.
#include "ingot/driver/agreement.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ingot/base/elements.h"

namespace ingot::driver {
namespace {

bool is_real(DType dtype) { return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16; }

std::int64_t equal_elements(const Array& a, const Array& b) {
  std::int64_t same = 0;
  dispatch(a.dtype(), Any{}, [&]<class T>() {
    const auto x = a.data<T>(), y = b.data<T>();
    for (std::size_t i = 0; i < x.size(); ++i) same += std::equal_to<>{}(x[i], y[i]);
  });
  return same;
}

std::int64_t place_of_largest(const double* row, std::int64_t count) {
  return std::max_element(row, row + count) - row;
}

}  // namespace

void Agreement::add(const Datum& expected, const Datum& got) {
  const Array *a = expected.array(), *b = got.array();
  if (!a || !b) return;
  ++arrays_;
  if (a->dtype() != b->dtype() || a->dims() != b->dims()) {
    ++other_shapes_;
    return;
  }
  if (!is_real(a->dtype())) {
    integers_ += a->size();
    same_integers_ += equal_elements(*a, *b);
    return;
  }
  const std::vector<double> x = a->to_doubles(), y = b->to_doubles();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) continue;
    ++elements_;
    if (std::isfinite(x[i])) signal_ += x[i] * x[i];
    if (std::equal_to<>{}(x[i], y[i])) continue;
    const double difference = std::abs(x[i] - y[i]);  // infinite where an infinity is none any more
    noise_ += difference * difference;
    largest_ = std::max(largest_, difference);
  }
  if (a->rank() != 2 || a->dims()[1] < 2) return;
  const std::int64_t classes = a->dims()[1];
  for (std::int64_t row = 0; row < a->dims()[0]; ++row) {
    const auto at = static_cast<std::size_t>(row * classes);
    same_rows_ += place_of_largest(&x[at], classes) == place_of_largest(&y[at], classes);
    ++rows_;
  }
}

double Agreement::decibels() const {
  constexpr double kMost = 200;
  if (!(noise_ > 0)) return noise_ == 0 ? kMost : -kMost;  // NaN is no agreement
  return signal_ > 0 ? std::clamp(10 * std::log10(signal_ / noise_), -kMost, kMost) : -kMost;
}

}  // namespace ingot::driver
