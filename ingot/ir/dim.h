#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

/// A dimension or a propagated integer: a number, an expression of names, or unknown.
///
/// Expressions are kept in a normal form: a sum of products with integer coefficients over names and over floor
/// divisions, remainders, minima and maxima of such sums. They are immutable and shared, so a Dim is cheap to copy.
/// Names stand for sizes, which are never negative. What overflows 64 bits, divides by zero, or grows beyond a fixed
/// size or depth becomes unknown.
class Dim {
 public:
  Dim() = default;  ///< Unknown.
  /// A number; negative ones occur as values of shape arithmetic.
  Dim(std::int64_t value) : value_(value), expr_(std::shared_ptr<void>(), &kKnown) {}
  /// A size known by name only. The name is opaque: nothing in it is parsed. An empty name is unknown.
  static Dim symbol(std::string name);

  bool is_known() const { return expr_.get() == &kKnown; }
  bool is_unknown() const { return expr_ == nullptr; }
  bool is_symbolic() const { return !is_unknown() && !is_known(); }
  /// The number; only when known.
  std::int64_t value() const { return value_; }
  std::optional<std::int64_t> as_int() const { return is_known() ? std::optional(value_) : std::nullopt; }

  /// Stable spelling: "" when unknown, "7", "N", "2*N + 1", "floor(N/2)", "mod(N, 2)", "max(M, N)". A name that stands
  /// alone is printed verbatim; inside an expression one that is no plain identifier is quoted.
  std::string str() const;

  /// True only if provably equal; unknown is not the same as unknown.
  friend bool same(const Dim& a, const Dim& b);
  /// False only if provably different for all values of the names.
  friend bool may_equal(const Dim& a, const Dim& b);
  /// Same structure, unknown == unknown: compares models, not sizes.
  friend bool operator==(const Dim& a, const Dim& b);

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a);
  /// Rounded towards minus infinity.
  friend Dim floor_div(const Dim& a, const Dim& b);
  /// Rounded towards plus infinity.
  friend Dim ceil_div(const Dim& a, const Dim& b);
  /// a - b * floor_div(a, b): has the sign of b.
  friend Dim mod(const Dim& a, const Dim& b);
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);
  /// The q with a = q * b if b divides a without remainder as a polynomial, else unknown. Takes for granted that b is
  /// not zero, which floor_div does not: exact_div(N*M, N) is M.
  friend Dim exact_div(const Dim& a, const Dim& b);

  /// True only if provably >= n.
  bool is_at_least(std::int64_t n) const;

  /// Replaces the names for which `lookup` has a value that is not unknown. The values must not be negative.
  Dim substitute(const std::function<std::optional<Dim>(std::string_view)>& lookup) const;
  /// Appends the names that occur, each once per call.
  void collect_symbols(std::vector<std::string>& names) const;

 private:
  friend struct DimParts;
  static constexpr char kKnown = 0;

  std::int64_t value_ = 0;
  std::shared_ptr<const void> expr_;  // null: unknown; &kKnown: value_; else a DimExpr
};

bool same(const Dim& a, const Dim& b);
bool may_equal(const Dim& a, const Dim& b);
Dim floor_div(const Dim& a, const Dim& b);
Dim ceil_div(const Dim& a, const Dim& b);
Dim mod(const Dim& a, const Dim& b);
Dim min(const Dim& a, const Dim& b);
Dim max(const Dim& a, const Dim& b);
Dim exact_div(const Dim& a, const Dim& b);

}  // namespace ingot
