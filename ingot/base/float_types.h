#pragma once
#include <compare>
#include <cstdint>

#include "ingot/base/checked.h"
#include "ingot/base/dtype.h"
#include "ingot/base/float_format.h"

// The element types that C++ has no type for. They hold values and convert; arithmetic is done in float or double.
// Conversions to float are exact (NaN becomes quiet, as in hardware), those from numbers round once, to nearest, ties
// to even.

namespace ingot {

template <class Self, class StorageType, detail::FloatFormat kFormat> struct SmallFloat {
  using Storage = StorageType;
  static constexpr int kBits = kFormat.sign_shift() + 1;

  Storage bits = 0;

  constexpr SmallFloat() = default;

  static constexpr Self from_bits(std::uint32_t pattern) {
    Self self;
    self.bits = static_cast<Storage>(pattern);
    return self;
  }
  constexpr std::uint32_t to_bits() const { return bits; }

  static constexpr Self max() { return from_bits(kFormat.max_pattern()); }
  static constexpr Self lowest() { return from_bits(kFormat.max_pattern() | kFormat.sign_bit()); }

  explicit constexpr operator float() const { return detail::decode(kFormat, bits); }
  explicit constexpr operator double() const { return detail::decode(kFormat, bits); }

  /// As floats compare: NaN equals nothing, -0 equals 0.
  friend constexpr bool operator==(Self a, Self b) { return static_cast<float>(a) == static_cast<float>(b); }
  friend constexpr std::partial_ordering operator<=>(Self a, Self b) {
    return static_cast<float>(a) <=> static_cast<float>(b);
  }

 protected:
  template <std::floating_point T>
  constexpr SmallFloat(T value, bool saturate) : bits(static_cast<Storage>(detail::encode(kFormat, value, saturate))) {}
};

struct Float16 : SmallFloat<Float16, std::uint16_t, detail::FloatFormat{5, 10, 15, detail::Specials::ieee}> {
  constexpr Float16() = default;
  template <std::floating_point T> explicit constexpr Float16(T value) : SmallFloat(value, false) {}
  template <std::integral T> explicit constexpr Float16(T value) : Float16(detail::to_double_keeping_sticky(value)) {}
};

struct BFloat16 : SmallFloat<BFloat16, std::uint16_t, detail::FloatFormat{8, 7, 127, detail::Specials::ieee}> {
  constexpr BFloat16() = default;
  template <std::floating_point T> explicit constexpr BFloat16(T value) : SmallFloat(value, false) {}
  template <std::integral T> explicit constexpr BFloat16(T value) : BFloat16(detail::to_double_keeping_sticky(value)) {}
};

/// The float8 family. With `saturate` (ONNX Cast's default) what is too large, infinity included, becomes the largest
/// number; without, infinity in E5M2 and NaN in the others.
template <class Self, detail::FloatFormat kFormat> struct Float8 : SmallFloat<Self, std::uint8_t, kFormat> {
  constexpr Float8() = default;
  template <std::floating_point T>
  explicit constexpr Float8(T value, bool saturate = true) : SmallFloat<Self, std::uint8_t, kFormat>(value, saturate) {}
  template <std::integral T>
  explicit constexpr Float8(T value, bool saturate = true)
      : Float8(detail::to_double_keeping_sticky(value), saturate) {}
};

struct Float8E4M3FN : Float8<Float8E4M3FN, detail::FloatFormat{4, 3, 7, detail::Specials::nan}> {
  using Float8::Float8;
};
struct Float8E4M3FNUZ : Float8<Float8E4M3FNUZ, detail::FloatFormat{4, 3, 8, detail::Specials::fnuz}> {
  using Float8::Float8;
};
struct Float8E5M2 : Float8<Float8E5M2, detail::FloatFormat{5, 2, 15, detail::Specials::ieee}> {
  using Float8::Float8;
};
struct Float8E5M2FNUZ : Float8<Float8E5M2FNUZ, detail::FloatFormat{5, 2, 16, detail::Specials::fnuz}> {
  using Float8::Float8;
};

/// 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; what is larger becomes 6, NaN becomes -0. One value per object;
/// two per byte in tensors.
struct Float4E2M1 : SmallFloat<Float4E2M1, std::uint8_t, detail::FloatFormat{2, 1, 1, detail::Specials::finite}> {
  constexpr Float4E2M1() = default;
  template <std::floating_point T> explicit constexpr Float4E2M1(T value) : SmallFloat(value, true) {}
  template <std::integral T>
  explicit constexpr Float4E2M1(T value) : Float4E2M1(detail::to_double_keeping_sticky(value)) {}
};

/// How a number between two powers of two becomes a Float8E8M0; ties of `nearest` go up.
enum class E8M0Rounding { up, down, nearest };

/// A power of two from 2^-127 to 2^127, or NaN. It has no sign and no zero: the sign of a number is dropped, 0 becomes
/// 2^-127, infinity NaN. What is rounded above 2^127 becomes 2^127 if `saturate`, else NaN.
struct Float8E8M0 {
  using Storage = std::uint8_t;
  static constexpr int kBits = 8;

  Storage bits = 0;

  constexpr Float8E8M0() = default;
  explicit constexpr Float8E8M0(double value, bool saturate = true, E8M0Rounding rounding = E8M0Rounding::up)
      : bits(encode(value, saturate, rounding)) {}
  explicit constexpr Float8E8M0(float value, bool saturate = true, E8M0Rounding rounding = E8M0Rounding::up)
      : Float8E8M0(static_cast<double>(value), saturate, rounding) {}
  template <std::integral T>
  explicit constexpr Float8E8M0(T value, bool saturate = true, E8M0Rounding rounding = E8M0Rounding::up)
      : Float8E8M0(detail::to_double_keeping_sticky(value), saturate, rounding) {}

  static constexpr Float8E8M0 from_bits(std::uint32_t pattern) {
    Float8E8M0 self;
    self.bits = static_cast<Storage>(pattern);
    return self;
  }
  constexpr std::uint32_t to_bits() const { return bits; }

  static constexpr Float8E8M0 max() { return from_bits(0xFE); }
  static constexpr Float8E8M0 lowest() { return from_bits(0); }

  explicit constexpr operator float() const {
    if (bits == 0xFF) return std::bit_cast<float>(0x7FC00000u);
    return std::bit_cast<float>(bits == 0 ? 0x00400000u : static_cast<std::uint32_t>(bits) << 23);
  }
  explicit constexpr operator double() const { return static_cast<float>(*this); }

  friend constexpr bool operator==(Float8E8M0 a, Float8E8M0 b) { return a.bits == b.bits && a.bits != 0xFF; }
  friend constexpr std::partial_ordering operator<=>(Float8E8M0 a, Float8E8M0 b) {
    return static_cast<float>(a) <=> static_cast<float>(b);
  }

 private:
  static constexpr Storage encode(double value, bool saturate, E8M0Rounding rounding);
};

constexpr Float8E8M0::Storage Float8E8M0::encode(double value, bool saturate, E8M0Rounding rounding) {
  const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(value) & ~(std::uint64_t{1} << 63);
  const int biased = static_cast<int>(magnitude >> 52);
  const std::uint64_t fraction = magnitude & ((std::uint64_t{1} << 52) - 1);
  if (biased == 0x7FF) return 0xFF;
  int exponent = biased - 1023;
  if (exponent < -127) return 0;
  const bool half_or_more = (fraction >> 51) != 0;
  exponent += (rounding == E8M0Rounding::up && fraction != 0) || (rounding == E8M0Rounding::nearest && half_or_more);
  if (exponent > 127) return saturate ? 0xFE : 0xFF;
  return static_cast<Storage>(exponent + 127);
}

/// Integers of 4 and 2 bits: one value per object, several per byte in tensors. What does not fit wraps; floats lose
/// their fraction first.
template <class Self, int kWidth, bool kSigned> struct SmallInt {
  using Storage = std::conditional_t<kSigned, std::int8_t, std::uint8_t>;
  static constexpr int kBits = kWidth;

  Storage value = 0;

  constexpr SmallInt() = default;
  template <std::integral T> explicit constexpr SmallInt(T number) : value(wrap(static_cast<std::uint32_t>(number))) {}
  template <std::floating_point T>
  explicit constexpr SmallInt(T number) : SmallInt(saturate_cast<std::int64_t>(number)) {}

  static constexpr Self from_bits(std::uint32_t pattern) {
    Self self;
    self.value = wrap(pattern);
    return self;
  }
  /// The low kBits bits, as stored in tensors.
  constexpr std::uint32_t to_bits() const { return static_cast<std::uint32_t>(value) & kMask; }

  static constexpr Self max() { return from_bits(kSigned ? kMask >> 1 : kMask); }
  static constexpr Self lowest() { return from_bits(kSigned ? (kMask >> 1) + 1 : 0); }

  template <class T>
  requires std::is_arithmetic_v<T>
  explicit constexpr operator T() const { return static_cast<T>(value); }

  friend constexpr auto operator<=>(Self a, Self b) { return a.value <=> b.value; }
  friend constexpr bool operator==(Self a, Self b) { return a.value == b.value; }

 private:
  static constexpr std::uint32_t kMask = (1u << kWidth) - 1;
  static constexpr Storage wrap(std::uint32_t pattern) {
    const std::uint32_t low = pattern & kMask;
    const bool negative = kSigned && (low >> (kWidth - 1)) != 0;
    return static_cast<Storage>(negative ? static_cast<int>(low) - (1 << kWidth) : static_cast<int>(low));
  }
};

struct Int4 : SmallInt<Int4, 4, true> {
  using SmallInt::SmallInt;
};
struct UInt4 : SmallInt<UInt4, 4, false> {
  using SmallInt::SmallInt;
};
struct Int2 : SmallInt<Int2, 2, true> {
  using SmallInt::SmallInt;
};
struct UInt2 : SmallInt<UInt2, 2, false> {
  using SmallInt::SmallInt;
};

}  // namespace ingot
