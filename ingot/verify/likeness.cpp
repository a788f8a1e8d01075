// How alike the results of quantised networks are.
#include "ingot/verify/likeness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot::verify {
namespace {

constexpr double kDecibels = 3;
constexpr double kShare = 0.1;

}  // namespace

void Likeness::add(const Array& a, const Array& b) {
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    signal_ += x[i] * x[i];
    error_ += (x[i] - y[i]) * (x[i] - y[i]);
  }
  const std::int64_t width = a.dims().empty() ? 1 : a.dims().back();
  if (width < 2) return;
  for (auto row = x.begin(), other = y.begin(); row != x.end(); row += width, other += width) {
    ++rows_;
    same_ += std::max_element(row, row + width) - row == std::max_element(other, other + width) - other;
  }
}

double Likeness::decibels() const {
  if (error_ == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(signal_ / error_);
}

double Likeness::same_first() const { return rows_ ? static_cast<double>(same_) / static_cast<double>(rows_) : 1; }

std::string Likeness::text() const {
  std::string text = error_ == 0 ? "equal" : fmt::format("{:.1f} dB", decibels());
  if (rows_) text += fmt::format(", the same first place in {} of {} rows", same_, rows_);
  return text;
}

bool is_as_alike(const Likeness& pair, const Likeness& shaken) {
  const double slack = std::max(kShare, 0.2 * (1 - shaken.same_first()));
  return pair.decibels() >= shaken.decibels() - kDecibels && pair.same_first() >= shaken.same_first() - slack;
}

}  // namespace ingot::verify
