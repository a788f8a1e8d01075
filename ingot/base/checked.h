#pragma once
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace ingot {

/// Sums, differences and products that say when they do not fit.
template <std::integral T> constexpr std::optional<T> checked_add(T a, T b) {
  T result;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <std::integral T> constexpr std::optional<T> checked_sub(T a, T b) {
  T result;
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <std::integral T> constexpr std::optional<T> checked_mul(T a, T b) {
  T result;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// How many elements a tensor of these dimensions has: 1 for none, 0 if any is 0; nothing if one is negative or the
/// product does not fit.
constexpr std::optional<std::uint64_t> element_count(std::span<const std::int64_t> dims) {
  std::uint64_t count = 1;
  bool fits = true;
  bool empty = false;
  for (const std::int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    empty |= dim == 0;
    if (dim != 0) fits &= !__builtin_mul_overflow(count, static_cast<std::uint64_t>(dim), &count);
  }
  if (empty) return 0;
  return fits ? std::optional(count) : std::nullopt;
}

[[noreturn]] void throw_does_not_fit(std::int64_t value);
[[noreturn]] void throw_does_not_fit(std::uint64_t value);

/// The same number in another integer type; throws Error(Code::overflow) if that type does not have it.
template <std::integral To, std::integral From> constexpr To narrow(From value) {
  if (!std::in_range<To>(value)) {
    if constexpr (std::is_signed_v<From>)
      throw_does_not_fit(static_cast<std::int64_t>(value));
    else
      throw_does_not_fit(static_cast<std::uint64_t>(value));
  }
  return static_cast<To>(value);
}

/// The integer part, or the end of the range that is nearest; 0 for NaN. The plain cast is undefined for these.
template <std::integral To, std::floating_point From> constexpr To saturate_cast(From value) {
  using Range = std::numeric_limits<To>;
  constexpr From kBeyond = static_cast<From>(Range::max() / 2 + 1) * 2;  // a power of two: exact
  if (value != value) return 0;
  if (value >= kBeyond) return Range::max();
  if (value <= static_cast<From>(Range::min())) return Range::min();
  return static_cast<To>(value);
}

}  // namespace ingot
