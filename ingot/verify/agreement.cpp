// How far apart two tensors are, and how far they may be.
#include "ingot/verify/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot::verify {
namespace {

constexpr double kNoiseFactor = 4;
constexpr double kWholeFactor = 1.5;    // of noise that was measured on both sides: no sum of both is larger
constexpr double kOtherFactor = 8;      // how much noisier than Ingot another runtime may be
constexpr double kFloor = 4;            // units in the last place of the largest element
constexpr double kShareWithin = 0.999;  // of quantised elements

bool is_real(DType t) { return is_float(t); }
bool is_whole(DType t) { return is_integer(t) || t == DType::boolean; }
bool is_quantized(DType t) {
  return t == DType::i8 || t == DType::u8 || t == DType::i16 || t == DType::u16 || t == DType::i4 || t == DType::u4;
}

double digits_of(DType t) {
  switch (t) {
    case DType::f64:
      return 1e-12;
    case DType::f32:
      return 1e-5;
    case DType::f16:
      return 4e-3;
    default:
      return 3e-2;  // bfloat16 and shorter ones
  }
}

double epsilon_of(DType t) {
  switch (t) {
    case DType::f64:
      return std::numeric_limits<double>::epsilon();
    case DType::f32:
      return std::numeric_limits<float>::epsilon();
    case DType::f16:
      return 0x1p-10;
    default:
      return 0x1p-7;
  }
}

/// Between 0 and the number next to it; 0: too little to matter.
double least_step_of(DType t) { return t == DType::f16 ? 0x1p-24 : 0; }

DType coarser(DType a, DType b) { return digits_of(a) >= digits_of(b) ? a : b; }

Distance real_distance(const Array& a, const Array& b) {
  Distance d;
  d.dtype = coarser(a.dtype(), b.dtype());
  d.size = a.size();
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i])) d.scale = std::max(d.scale, std::abs(x[i]));
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    ++d.differ;
    const bool is_finite = std::isfinite(x[i]) && std::isfinite(y[i]);
    const double apart = is_finite ? std::abs(x[i] - y[i]) : std::numeric_limits<double>::infinity();
    if (apart <= d.value && d.worst >= 0) continue;
    d.value = apart;
    d.worst = static_cast<std::int64_t>(i);
  }
  return d;
}

Distance whole_distance(const Array& a, const Array& b) {
  Distance d;
  d.dtype = a.dtype();
  d.size = a.size();
  d.unit = is_quantized(a.dtype()) && is_quantized(b.dtype()) ? Distance::Unit::steps : Distance::Unit::elements;
  const std::vector<std::int64_t> x = a.to_ints(), y = b.to_ints();
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;
    ++d.differ;
    const double apart = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    if (d.unit == Distance::Unit::steps) steps.push_back(static_cast<std::int64_t>(apart));
    if (apart > d.largest || d.worst < 0) {
      d.largest = apart;
      d.worst = static_cast<std::int64_t>(i);
    }
  }
  if (d.unit == Distance::Unit::elements) {
    d.value = static_cast<double>(d.differ);
    return d;
  }
  const auto outside = static_cast<std::size_t>(static_cast<double>(x.size()) * (1 - kShareWithin));
  if (steps.size() > outside) {
    std::ranges::sort(steps, std::greater{});
    d.value = static_cast<double>(steps[outside]);
  }
  return d;
}

Distance text_distance(const Array& a, const Array& b) {
  Distance d;
  d.dtype = a.dtype();
  d.size = a.size();
  d.unit = Distance::Unit::elements;
  const auto x = a.data<std::string>(), y = b.data<std::string>();
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i] && ++d.differ == 1) d.worst = static_cast<std::int64_t>(i);
  d.value = static_cast<double>(d.differ);
  return d;
}

std::string number(double value) { return fmt::format("{:.3g}", value); }

}  // namespace

std::optional<Distance> distance(const Array& a, const Array& b) {
  if (a.dims() != b.dims()) return std::nullopt;
  if (is_real(a.dtype()) && is_real(b.dtype())) return real_distance(a, b);
  if (is_whole(a.dtype()) && is_whole(b.dtype())) return whole_distance(a, b);
  if (a.dtype() == DType::string && b.dtype() == DType::string) return text_distance(a, b);
  return std::nullopt;
}

Distance as_rounded(Distance d, DType dtype) {
  if (dtype != DType::undefined && d.unit == Distance::Unit::absolute) d.dtype = coarser(d.dtype, dtype);
  return d;
}

namespace {

Threshold threshold_of_reals(const Distance& d, const Noise& noise) {
  Threshold t;
  t.value = digits_of(d.dtype) * d.scale;
  t.source = fmt::format("{} has {} of an output's scale", name_of(d.dtype), number(digits_of(d.dtype)));
  if (const double step = least_step_of(d.dtype); step > t.value) {
    t.value = step;
    t.source = fmt::format("the step of {} beside 0", name_of(d.dtype));
  }
  const double least = epsilon_of(d.dtype) * noise.range;
  if (least > t.value) {
    t.value = least;
    t.source = fmt::format("what {} tells apart in numbers up to {}", name_of(d.dtype), number(noise.range));
  }
  if (!noise.own || !std::isfinite(noise.own->value)) return t;
  const double own = noise.own->value, fixed = t.value;
  if (noise.in_a && noise.in_b && d.dtype == DType::f32) {
    // Beyond what a runtime may be noisier than another, it computes something else.
    const double most = std::max(fixed, kOtherFactor * own), scale = d.scale > 0 ? d.scale : 1;
    const double in_a = std::min(*noise.in_a, most), in_b = std::min(*noise.in_b, most);
    const double floor = std::max(kFloor * epsilon_of(d.dtype) * d.scale, least);
    t.value = std::max(floor, kWholeFactor * (in_a + in_b));
    t.source = t.value == floor ? "what float tells apart; rounding moves less"
                                : fmt::format("{} x the noise of the one, {}, and of the other, {}", kWholeFactor,
                                              number(in_a / scale), number(in_b / scale));
    if (kNoiseFactor * own <= fixed) return t;
  }
  if (kNoiseFactor * own > t.value) {
    t.value = kNoiseFactor * own;
    t.source = fmt::format("{} x the model's own rounding noise, {}", kNoiseFactor, text_of(*noise.own));
  }
  return t;
}

}  // namespace

Threshold threshold_for(const Distance& d, const Noise& noise) {
  if (d.unit == Distance::Unit::absolute) return threshold_of_reals(d, noise);
  Threshold t;
  if (d.unit == Distance::Unit::steps) {
    t.value = 1;
    t.source = fmt::format("one step of {}, for 99.9 % of the elements", name_of(d.dtype));
  } else {
    t.source = fmt::format("{} must be equal", name_of(d.dtype));
  }
  const auto& own = noise.own;
  if (own && own->unit == d.unit && std::isfinite(own->value) && kNoiseFactor * own->value > t.value) {
    t.value = kNoiseFactor * own->value;
    if (d.unit == Distance::Unit::elements) t.value = std::min(t.value, static_cast<double>(d.size));
    t.largest = kNoiseFactor * own->largest;
    t.source = fmt::format("{} x the model's own rounding noise, {}", kNoiseFactor, text_of(*own));
  }
  return t;
}

bool is_within(const Distance& d, const Threshold& threshold) {
  if (d.value > threshold.value) return false;
  return d.unit != Distance::Unit::elements || d.largest <= threshold.largest;
}

std::string text_of(const Distance& d) {
  switch (d.unit) {
    case Distance::Unit::absolute:
      if (d.scale > 0) return fmt::format("{} of the scale {}", number(d.value / d.scale), number(d.scale));
      return number(d.value);
    case Distance::Unit::steps:
      return fmt::format("{} step{}", d.value, d.value == 1 ? "" : "s");
    default:
      return fmt::format("{} of {} elements", d.differ, d.size) +
             (d.largest > 1 ? fmt::format(", by {} at most", number(d.largest)) : "");
  }
}

std::string text_of(const Threshold& threshold, const Distance& d) {
  switch (d.unit) {
    case Distance::Unit::absolute:
      return number(d.scale > 0 ? threshold.value / d.scale : threshold.value);
    case Distance::Unit::steps:
      return fmt::format("{} step{}", threshold.value, threshold.value == 1 ? "" : "s");
    default:
      return fmt::format("{} elements", threshold.value) +
             (threshold.largest > 1 ? fmt::format(", by {}", number(threshold.largest)) : "");
  }
}

}  // namespace ingot::verify
