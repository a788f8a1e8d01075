#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ingot::detail {

/// What the topmost bit patterns of a small float format mean.
enum class Specials {
  ieee,    // exponent all ones: infinity and NaN
  nan,     // all bits but the sign one: NaN; no infinity
  fnuz,    // only the pattern of -0 is NaN; no infinity, no -0
  finite,  // numbers only
};

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;

  constexpr int sign_shift() const { return exponent_bits + mantissa_bits; }
  constexpr std::uint32_t sign_bit() const { return 1u << sign_shift(); }
  /// The pattern of the largest number, without sign.
  constexpr std::uint32_t max_pattern() const {
    const std::uint32_t all = sign_bit() - 1;
    switch (specials) {
      case Specials::ieee:
        return all - (1u << mantissa_bits);
      case Specials::nan:
        return all - 1;
      default:
        return all;
    }
  }
  constexpr std::uint32_t infinity_pattern() const { return max_pattern() + 1; }
};

template <class T> struct SourceFormat;
template <> struct SourceFormat<float> {
  using Bits = std::uint32_t;
  static constexpr int kMantissa = 23, kBias = 127, kMaxExponent = 0xFF;
};
template <> struct SourceFormat<double> {
  using Bits = std::uint64_t;
  static constexpr int kMantissa = 52, kBias = 1023, kMaxExponent = 0x7FF;
};

constexpr std::uint32_t nan_pattern(const FloatFormat& f, std::uint32_t sign, std::uint32_t payload) {
  switch (f.specials) {
    case Specials::ieee:
      return sign | f.infinity_pattern() | payload | 1u << (f.mantissa_bits - 1);
    case Specials::nan:
      return sign | (f.sign_bit() - 1);
    default:
      return f.sign_bit();  // FNUZ's only NaN; the -0 that ONNX's own tests expect of float4
  }
}

constexpr std::uint32_t overflow_pattern(const FloatFormat& f, std::uint32_t sign, bool saturate) {
  if (saturate || f.specials == Specials::finite) return sign | f.max_pattern();
  return f.specials == Specials::ieee ? sign | f.infinity_pattern() : nan_pattern(f, sign, 0);
}

/// The pattern nearest to `value`, ties to even. What is too large becomes the largest number if `saturate`, else
/// infinity, or NaN where the format has no infinity.
template <std::floating_point T> constexpr std::uint32_t encode(const FloatFormat& f, T value, bool saturate) {
  using S = SourceFormat<T>;
  using Bits = typename S::Bits;
  const Bits bits = std::bit_cast<Bits>(value);
  const auto sign = static_cast<std::uint32_t>(bits >> (sizeof(T) * 8 - 1)) << f.sign_shift();
  const int biased = static_cast<int>(bits >> S::kMantissa) & S::kMaxExponent;
  const Bits implicit_one = Bits{1} << S::kMantissa;
  Bits significand = bits & (implicit_one - 1);

  if (biased == S::kMaxExponent) {
    if (significand == 0) return overflow_pattern(f, sign, saturate);
    // As processors do: the upper part of the payload stays, quiet.
    const bool wide = f.mantissa_bits >= 7;
    return nan_pattern(f, sign, wide ? static_cast<std::uint32_t>(significand >> (S::kMantissa - f.mantissa_bits)) : 0);
  }

  int exponent = biased - S::kBias;
  if (biased != 0) {
    significand |= implicit_one;
  } else if (significand != 0) {
    const int shift = std::countl_zero(significand) - std::countl_zero(implicit_one);
    significand <<= shift;
    exponent = 1 - S::kBias - shift;
  }

  std::uint32_t pattern = 0;
  if (significand != 0) {
    const int smallest = 1 - f.bias;
    const int below = exponent < smallest ? smallest - exponent : 0;
    const int drop = S::kMantissa - f.mantissa_bits + below;
    if (drop <= S::kMantissa + 1) {  // else less than half of the smallest number: 0
      const Bits rest = significand & ((Bits{1} << drop) - 1);
      const Bits half = Bits{1} << (drop - 1);
      Bits kept = significand >> drop;
      kept += rest > half || (rest == half && (kept & 1) != 0);
      const int steps = below > 0 ? 0 : exponent - smallest;
      if (steps > 1 << f.exponent_bits) return overflow_pattern(f, sign, saturate);
      // A carry out of the mantissa lands in the exponent, which is just right.
      pattern = (static_cast<std::uint32_t>(steps) << f.mantissa_bits) + static_cast<std::uint32_t>(kept);
      if (pattern > f.max_pattern()) return overflow_pattern(f, sign, saturate);
    }
  }
  if (pattern == 0 && f.specials == Specials::fnuz) return 0;
  return sign | pattern;
}

/// The value of a pattern; exact.
constexpr float decode(const FloatFormat& f, std::uint32_t pattern) {
  const std::uint32_t sign = (pattern & f.sign_bit()) != 0 ? 0x80000000u : 0;
  const std::uint32_t magnitude = pattern & (f.sign_bit() - 1);
  constexpr std::uint32_t kInfinity = 0x7F800000u, kQuiet = 0x00400000u;
  if (f.specials == Specials::fnuz && pattern == f.sign_bit()) return std::bit_cast<float>(kInfinity | kQuiet);
  const int shift = 23 - f.mantissa_bits;
  std::uint32_t mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  if (magnitude > f.max_pattern()) {
    const bool infinite = f.specials == Specials::ieee && mantissa == 0;
    const std::uint32_t payload = f.specials == Specials::ieee ? mantissa << shift : 0;
    return std::bit_cast<float>(sign | kInfinity | (infinite ? 0 : kQuiet | payload));
  }
  int exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  if (exponent == 0) {
    if (mantissa == 0) return std::bit_cast<float>(sign);
    if (f.bias == 127) return std::bit_cast<float>(sign | mantissa << shift);  // float has the same small numbers
    const int up = f.mantissa_bits + 1 - (32 - std::countl_zero(mantissa));
    mantissa = (mantissa << up) & ((1u << f.mantissa_bits) - 1);
    exponent = 1 - up;
  }
  return std::bit_cast<float>(sign | static_cast<std::uint32_t>(exponent - f.bias + 127) << 23 | mantissa << shift);
}

/// A double that rounds to any format of up to 51 mantissa bits as the integer itself would: where double is too
/// narrow, the lost part is kept in the last bit.
template <std::integral T> constexpr double to_double_keeping_sticky(T value) {
  if constexpr (std::numeric_limits<T>::digits <= 53) {
    return static_cast<double>(value);
  } else {
    const bool negative = value < 0;
    const auto magnitude = negative ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
    const int extra = 64 - std::countl_zero(magnitude) - 53;
    if (extra <= 0) return static_cast<double>(value);
    const bool lost = (magnitude & ((std::uint64_t{1} << extra) - 1)) != 0;
    const std::uint64_t kept = (magnitude >> extra | static_cast<std::uint64_t>(lost)) << extra;
    return negative ? -static_cast<double>(kept) : static_cast<double>(kept);
  }
}

}  // namespace ingot::detail
