#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

// Functions of one number that several reference kernels share.

namespace ingot::ops {

/// Integers wrap around, which C++ promises for unsigned ones only.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

template <class T> constexpr T wrapping_add(T x, T y) {
  return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
}
/// Through at least 32 bits without sign: products of 16-bit numbers overflow the int they are promoted to.
template <class T> constexpr T wrapping_mul(T x, T y) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::uint64_t{1} * static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
  else
    return x * y;
}
template <std::integral T> constexpr T wrapping_negative(T x) {
  return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(x));
}

/// 1 / (1 + exp(-x)), written so that neither end overflows.
template <std::floating_point T> T sigmoid(T x) {
  const T e = std::exp(-std::abs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

/// log(1 + exp(x)), written so that a large x does not overflow.
template <std::floating_point T> T softplus(T x) { return (x > 0 ? x : T{0}) + std::log1p(std::exp(-std::abs(x))); }

/// Integers never are.
template <class T> bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  else
    return false;
}

}  // namespace ingot::ops
