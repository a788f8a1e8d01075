// Do two values agree?
#include "ingot/verify/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <complex>

#include "ingot/base/elements.h"
#include "ingot/verify/element_text.h"

namespace ingot::verify {
namespace {

const char* kind_of(const Datum& datum) {
  if (datum.array()) return "a tensor";
  if (datum.sequence()) return "a sequence";
  if (datum.map()) return "a map";
  if (datum.sparse()) return "a sparse tensor";
  return "empty";
}

bool is_finite(double v) { return std::isfinite(v); }
template <class T> bool is_finite(std::complex<T> v) { return std::isfinite(v.real()) && std::isfinite(v.imag()); }

/// Equality where one of the two is not finite.
bool same_special(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }
template <class T> bool same_special(std::complex<T> a, std::complex<T> b) {
  return same_special(a.real(), b.real()) && same_special(a.imag(), b.imag());
}

struct Mismatch {
  std::int64_t count = 0, first = -1;
  double largest = 0;
  void add(std::int64_t index, double distance) {
    if (count++ == 0) first = index;
    if (distance > largest || std::isnan(largest)) largest = distance;
  }
};

template <class T> Mismatch compare_real(std::span<const T> got, std::span<const T> expected, const Tolerance& t) {
  Mismatch m;
  double allowed = t.atol;
  if (t.scale > 0) {
    double largest = 0;
    for (const T e : expected)
      if (is_finite(e)) largest = std::max(largest, static_cast<double>(std::abs(e)));
    allowed += t.scale * largest;
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const T a = got[i], b = expected[i];
    if (!is_finite(a) || !is_finite(b)) {
      if (!same_special(a, b)) m.add(static_cast<std::int64_t>(i), std::numeric_limits<double>::infinity());
      continue;
    }
    const auto distance = static_cast<double>(std::abs(a - b));
    if (distance > allowed + t.rtol * static_cast<double>(std::abs(b))) m.add(static_cast<std::int64_t>(i), distance);
  }
  return m;
}

template <class T> Mismatch compare_exact(std::span<const T> got, std::span<const T> expected, const Tolerance& t) {
  Mismatch m;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i]) continue;
    double distance = std::numeric_limits<double>::infinity();
    if constexpr (is_integer(dtype_of<T>))
      distance = std::abs(static_cast<double>(static_cast<std::int64_t>(got[i])) -
                          static_cast<double>(static_cast<std::int64_t>(expected[i])));
    // As doubles, neighbours of great integers may be one number.
    if (t.steps == 0 || distance > static_cast<double>(t.steps)) m.add(static_cast<std::int64_t>(i), distance);
  }
  return m;
}

std::optional<std::string> compare_arrays(const Array& got, const Array& expected, const Tolerance& t) {
  if (got.dtype() != expected.dtype() || got.dims() != expected.dims())
    return fmt::format("is {}, expected {}", got.type().str(), expected.type().str());
  Mismatch m;
  dispatch(got.dtype(), Any{}, [&]<class T>() {
    if constexpr (std::is_same_v<T, double> || is_complex(dtype_of<T>)) {
      m = compare_real<T>(got.data<T>(), expected.data<T>(), t);
    } else if constexpr (is_float(dtype_of<T>)) {
      const std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
      m = compare_real<double>(a, b, t);
    } else {
      m = compare_exact<T>(got.data<T>(), expected.data<T>(), t);
    }
  });
  if (m.count == 0) return std::nullopt;
  std::string text = fmt::format("element {} is {}, expected {}", position_text(got.dims(), m.first),
                                 element_text(got, m.first), element_text(expected, m.first));
  if (m.count > 1) text += fmt::format("; {} of {} elements differ", m.count, got.size());
  if (m.count > 1 && std::isfinite(m.largest)) text += fmt::format(", at most by {:.3g}", m.largest);
  return text;
}

std::optional<std::string> compare_maps(const MapData& got, const MapData& expected, const Tolerance& t) {
  if (got.int_keys != expected.int_keys || got.string_keys != expected.string_keys) return "has other keys";
  if (auto d = compare_arrays(got.values, expected.values, t)) return "values: " + *d;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> difference(const Datum& got, const Datum& expected, const Tolerance& tolerance) {
  if (got.array() && expected.array()) return compare_arrays(*got.array(), *expected.array(), tolerance);
  if (got.map() && expected.map()) return compare_maps(*got.map(), *expected.map(), tolerance);
  if (const Sequence* a = got.sequence(), *b = expected.sequence(); a && b) {
    if (a->size() != b->size()) return fmt::format("has {} elements, expected {}", a->size(), b->size());
    for (std::size_t i = 0; i < a->size(); ++i)
      if (auto d = difference((*a)[i], (*b)[i], tolerance)) return fmt::format("element {}: {}", i, *d);
    return std::nullopt;
  }
  if (const SparseArray* a = got.sparse(), *b = expected.sparse(); a && b) {
    if (a->dims != b->dims) return "has another shape";
    if (auto d = compare_arrays(a->indices, b->indices, tolerance)) return "indices: " + *d;
    if (auto d = compare_arrays(a->values, b->values, tolerance)) return "values: " + *d;
    return std::nullopt;
  }
  if (!got && !expected) return std::nullopt;
  return fmt::format("is {}, expected {}", kind_of(got), kind_of(expected));
}

}  // namespace ingot::verify
