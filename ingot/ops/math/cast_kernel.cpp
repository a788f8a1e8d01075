// How Cast turns numbers into others, and into text and back.
#include "ingot/ops/math/cast_kernel.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "ingot/base/checked.h"

namespace ingot::ops {
namespace {

Conversion conversion_of(const KernelContext& c) {
  const std::string mode = c.attr("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest") c.fail("round_mode is '" + mode + "'");
  const auto rounding = mode == "up" ? E8M0Rounding::up : mode == "down" ? E8M0Rounding::down : E8M0Rounding::nearest;
  return {c.attr("saturate", std::int64_t{1}) != 0, rounding};
}

/// Plain digits, as few as name the number; INF, -INF and NaN, which can be read back.
template <class T> std::string written(T number) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number < 0 ? "-INF" : "INF";
    std::array<char, 400> text;  // the least double has 325 digits behind the point
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    return {text.data(), end.ptr};
  } else {
    return std::to_string(number);
  }
}

Array to_strings(KernelContext& c, const Array& x) {
  Array y = scratch(c, DType::string, x.dims());
  // Numbers of small types are written as those of the type they are computed in.
  const Array numbers = converted(x, x.dtype() == DType::boolean ? DType::i32 : compute_dtype(x.dtype()), c.host());
  dispatch(numbers.dtype(), ComputeNumbers{}, [&]<class T>() {
    std::ranges::transform(numbers.data<T>(), y.mutable_data<std::string>().begin(), written<T>);
  });
  return y;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

template <class T> bool reads_as(std::string_view text, T& number) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ptr == text.data() + text.size() && end.ec == std::errc();
}

double read_double(const KernelContext& c, std::string_view given) {
  std::string_view text = trimmed(given);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || end.ptr != text.data() + text.size() || end.ec == std::errc::invalid_argument)
    c.fail("'" + std::string(given.substr(0, 100)) + "' is no number");
  if (end.ec == std::errc()) return number;
  // Out of range: too large or too small for a double.
  const std::size_t exponent = text.find_first_of("eE");
  const bool is_tiny = exponent != std::string_view::npos ? text.substr(exponent + 1).starts_with('-')
                                                          : text.find_first_of("123456789") > text.find('.');
  const double size = is_tiny ? 0.0 : HUGE_VAL;
  return text.starts_with('-') ? -size : size;
}

/// Integers exactly; fractions are cut off where a whole number is wanted.
template <class T> T read_as(const KernelContext& c, const std::string& text) {
  T number = 0;
  if constexpr (std::is_integral_v<T>) {
    std::string_view digits = trimmed(text);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    if (reads_as(digits, number)) return number;
    return saturate_cast<T>(read_double(c, text));
  } else {
    return static_cast<T>(read_double(c, text));
  }
}

Array from_strings(KernelContext& c, const Array& x, DType to, const Conversion& how) {
  const DType numbers_type = to == DType::boolean               ? DType::f64
                             : is_float(to) && to != DType::f32 ? DType::f64
                                                                : compute_dtype(to);
  Array numbers = scratch(c, numbers_type, x.dims());
  dispatch(numbers_type, ComputeNumbers{}, [&]<class T>() {
    std::ranges::transform(x.data<std::string>(), numbers.mutable_data<T>().begin(),
                           [&](const std::string& text) { return read_as<T>(c, text); });
  });
  return converted(numbers, to, c.host(), how);
}

}  // namespace

Array cast_array(KernelContext& c, const Array& x, DType to, const Conversion& how) {
  if (x.dtype() == to) return x;
  if (is_complex(x.dtype()) || is_complex(to)) c.fail("complex numbers cannot be cast");
  if (to == DType::string) return to_strings(c, x);
  if (x.dtype() == DType::string) return from_strings(c, x, to, how);
  return converted(x, to, c.host(), how);
}

void run_cast_to(KernelContext& c, DType to) { c.set(0, cast_array(c, c.in(0), to, conversion_of(c))); }

}  // namespace ingot::ops
