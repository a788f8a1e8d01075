#pragma once
#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace ingot {

/// An element type of a tensor; the values are those of ONNX.
enum class DType : std::uint8_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  c64 = 14,
  c128 = 15,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,
  i4 = 22,
  f4e2m1 = 23,
  f8e8m0 = 24,
  u2 = 25,
  i2 = 26,
};
inline constexpr int kDTypeCount = 27;

/// Whether a file's number names an element type; 0 (undefined) does not.
constexpr bool is_valid_dtype(std::int64_t onnx_value) { return onnx_value > 0 && onnx_value < kDTypeCount; }

/// ONNX's spelling: "float", "uint8", "bfloat16", "float8e4m3fn", ...; "undefined" for no type.
std::string_view name_of(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);

/// Width of one element in storage; 0 for string and undefined.
unsigned bits_of(DType dtype);

/// Bytes of that many elements, sub-byte types packed; nothing on overflow or if the type has no fixed width.
std::optional<std::uint64_t> byte_count(DType dtype, std::uint64_t elements);

// The scalar types without a C++ type of their own; base/float_types.h defines them.
struct Float16;
struct BFloat16;
struct Float8E4M3FN;
struct Float8E4M3FNUZ;
struct Float8E5M2;
struct Float8E5M2FNUZ;
struct Float8E8M0;
struct Float4E2M1;
struct Int4;
struct UInt4;
struct Int2;
struct UInt2;

/// The element type a C++ type stands for; not defined for other C++ types.
template <class T> extern const DType dtype_of;
template <> inline constexpr DType dtype_of<float> = DType::f32;
template <> inline constexpr DType dtype_of<std::uint8_t> = DType::u8;
template <> inline constexpr DType dtype_of<std::int8_t> = DType::i8;
template <> inline constexpr DType dtype_of<std::uint16_t> = DType::u16;
template <> inline constexpr DType dtype_of<std::int16_t> = DType::i16;
template <> inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <> inline constexpr DType dtype_of<std::int64_t> = DType::i64;
template <> inline constexpr DType dtype_of<std::string> = DType::string;
template <> inline constexpr DType dtype_of<bool> = DType::boolean;
template <> inline constexpr DType dtype_of<Float16> = DType::f16;
template <> inline constexpr DType dtype_of<double> = DType::f64;
template <> inline constexpr DType dtype_of<std::uint32_t> = DType::u32;
template <> inline constexpr DType dtype_of<std::uint64_t> = DType::u64;
template <> inline constexpr DType dtype_of<std::complex<float>> = DType::c64;
template <> inline constexpr DType dtype_of<std::complex<double>> = DType::c128;
template <> inline constexpr DType dtype_of<BFloat16> = DType::bf16;
template <> inline constexpr DType dtype_of<Float8E4M3FN> = DType::f8e4m3fn;
template <> inline constexpr DType dtype_of<Float8E4M3FNUZ> = DType::f8e4m3fnuz;
template <> inline constexpr DType dtype_of<Float8E5M2> = DType::f8e5m2;
template <> inline constexpr DType dtype_of<Float8E5M2FNUZ> = DType::f8e5m2fnuz;
template <> inline constexpr DType dtype_of<UInt4> = DType::u4;
template <> inline constexpr DType dtype_of<Int4> = DType::i4;
template <> inline constexpr DType dtype_of<Float4E2M1> = DType::f4e2m1;
template <> inline constexpr DType dtype_of<Float8E8M0> = DType::f8e8m0;
template <> inline constexpr DType dtype_of<UInt2> = DType::u2;
template <> inline constexpr DType dtype_of<Int2> = DType::i2;

/// A list of element types: a schema states it, the kernel dispatches over the same list.
template <class... Ts> struct Types {};

namespace detail {
template <class... Ts, class... Us> Types<Ts..., Us...> join(Types<Ts...>, Types<Us...>);
}
template <class A, class B> using JoinTypes = decltype(detail::join(A{}, B{}));

using Floats = Types<Float16, BFloat16, float, double>;
using SignedIntegers = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using UnsignedIntegers = Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using Integers = JoinTypes<SignedIntegers, UnsignedIntegers>;
using Numeric = JoinTypes<Floats, Integers>;
using Complexes = Types<std::complex<float>, std::complex<double>>;
using SmallFloats = Types<Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float8E8M0, Float4E2M1>;
using SmallIntegers = Types<UInt4, Int4, UInt2, Int2>;
/// Every element type of one fixed width.
using Fixed = JoinTypes<JoinTypes<JoinTypes<Numeric, Types<bool>>, Complexes>, JoinTypes<SmallFloats, SmallIntegers>>;
using Any = JoinTypes<Fixed, Types<std::string>>;

/// A set of element types.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<DType> dtypes) {
    for (const DType dtype : dtypes) bits_ |= bit(dtype);
  }
  template <class... Ts> constexpr TypeSet(Types<Ts...>) : bits_((bit(dtype_of<Ts>) | ... | 0u)) {}
  /// Bit i stands for the element type of value i, as bits() gives them.
  static constexpr TypeSet from_bits(std::uint32_t bits) {
    TypeSet set;
    set.bits_ = bits;
    return set;
  }

  constexpr bool has(DType dtype) const { return (bits_ & bit(dtype)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr int size() const { return std::popcount(bits_); }
  constexpr std::uint32_t bits() const { return bits_; }
  /// Whether every type of `other` is in this set.
  constexpr bool includes(TypeSet other) const { return (other.bits_ & ~bits_) == 0; }

  friend constexpr TypeSet operator|(TypeSet a, TypeSet b) { return from_bits(a.bits_ | b.bits_); }
  friend constexpr TypeSet operator&(TypeSet a, TypeSet b) { return from_bits(a.bits_ & b.bits_); }
  friend constexpr TypeSet operator-(TypeSet a, TypeSet b) { return from_bits(a.bits_ & ~b.bits_); }
  friend constexpr bool operator==(TypeSet, TypeSet) = default;

 private:
  static constexpr std::uint32_t bit(DType dtype) { return 1u << static_cast<unsigned>(dtype); }

  std::uint32_t bits_ = 0;
};

constexpr bool is_float(DType dtype) { return TypeSet(JoinTypes<Floats, SmallFloats>{}).has(dtype); }
constexpr bool is_signed_integer(DType dtype) {
  return TypeSet(JoinTypes<SignedIntegers, Types<Int4, Int2>>{}).has(dtype);
}
constexpr bool is_integer(DType dtype) { return TypeSet(JoinTypes<Integers, SmallIntegers>{}).has(dtype); }
constexpr bool is_complex(DType dtype) { return TypeSet(Complexes{}).has(dtype); }
constexpr bool is_sub_byte(DType dtype) { return TypeSet(JoinTypes<SmallIntegers, Types<Float4E2M1>>{}).has(dtype); }

[[noreturn]] void throw_unknown_dtype(DType dtype);

/// Calls f.operator()<T>() for the T that `dtype` names; throws Error(Code::unknown_dtype) if the list has none.
template <class... Ts, class F> void dispatch(DType dtype, Types<Ts...>, F&& f) {
  const bool known = ((dtype == dtype_of<Ts> && (f.template operator()<Ts>(), true)) || ...);
  if (!known) throw_unknown_dtype(dtype);
}

}  // namespace ingot
