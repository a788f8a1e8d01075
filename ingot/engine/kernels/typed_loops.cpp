// Plain loops that the compiler turns into vectors, for the CPU that runs them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/typed_loops.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/typed_loops.h"

#include <cmath>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {

template <class T, class Out, class F>
void zip_loop(const void* xs, std::int64_t x_step, const void* ys, std::int64_t y_step, void* zs, std::int64_t n) {
  const T *HWY_RESTRICT x = static_cast<const T*>(xs), *HWY_RESTRICT y = static_cast<const T*>(ys);
  Out* HWY_RESTRICT z = static_cast<Out*>(zs);
  if (x_step == 1 && y_step == 1) {
    for (std::int64_t i = 0; i < n; ++i) z[i] = F::of(x[i], y[i]);
  } else if (y_step == 0) {
    const T other = *y;
    if (x_step == 0)
      for (std::int64_t i = 0; i < n; ++i) z[i] = F::of(*x, other);
    else
      for (std::int64_t i = 0; i < n; ++i) z[i] = F::of(x[i], other);
  } else {
    const T other = *x;
    for (std::int64_t i = 0; i < n; ++i) z[i] = F::of(other, y[i]);
  }
}

template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
/// Products of 16 bits overflow the int they are promoted to.
template <class T>
using Wide = std::conditional_t<(std::is_integral_v<T> && sizeof(T) < 4), std::uint32_t, Wrapping<T>>;

struct Add {
  template <class T> static T of(T x, T y) { return static_cast<T>(static_cast<Wide<T>>(x) + static_cast<Wide<T>>(y)); }
};
struct Subtract {
  template <class T> static T of(T x, T y) { return static_cast<T>(static_cast<Wide<T>>(x) - static_cast<Wide<T>>(y)); }
};
struct Multiply {
  template <class T> static T of(T x, T y) { return static_cast<T>(static_cast<Wide<T>>(x) * static_cast<Wide<T>>(y)); }
};
struct Divide {
  template <class T> static T of(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return x / y;
    } else {
      // The only quotient that does not fit is that by -1. Those of 32 bits are exact in double.
      const bool is_minus = std::is_signed_v<T> && y == static_cast<T>(-1);
      const T by = is_minus ? T{1} : y;
      T quotient;
      if constexpr (sizeof(T) == 8)
        quotient = x / by;
      else
        quotient = static_cast<T>(static_cast<double>(x) / static_cast<double>(by));
      return is_minus ? Subtract::of(T{0}, x) : quotient;
    }
  }
};
struct Remainder {
  template <class T> static T of(T x, T y) { return Subtract::of(x, Multiply::of(Divide::of(x, y), y)); }
};
struct Modulo {
  template <class T> static T of(T x, T y) {
    const T rest = Remainder::of(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? static_cast<T>(rest + y) : rest;
  }
};
struct Maximum {
  template <class T> static T of(T x, T y) { return (y > x) | (y != y) ? y : x; }
};
struct Minimum {
  template <class T> static T of(T x, T y) { return (y < x) | (y != y) ? y : x; }
};
struct BitAnd {
  template <class T> static T of(T x, T y) { return static_cast<T>(x & y); }
};
struct BitOr {
  template <class T> static T of(T x, T y) { return static_cast<T>(x | y); }
};
struct BitXor {
  template <class T> static T of(T x, T y) { return static_cast<T>(x ^ y); }
};
struct ShiftLeft {
  template <class T> static T of(T x, T y) {
    constexpr T kWidth = std::numeric_limits<T>::digits;
    return y >= kWidth ? T{0} : static_cast<T>(static_cast<Wide<T>>(x) << (y & (kWidth - 1)));
  }
};
struct ShiftRight {
  template <class T> static T of(T x, T y) {
    constexpr T kWidth = std::numeric_limits<T>::digits;
    return y >= kWidth ? T{0} : static_cast<T>(static_cast<Wide<T>>(x) >> (y & (kWidth - 1)));
  }
};
struct Equal {
  template <class T> static bool of(T x, T y) { return x == y; }
};
struct Greater {
  template <class T> static bool of(T x, T y) { return x > y; }
};
struct GreaterOrEqual {
  template <class T> static bool of(T x, T y) { return x >= y; }
};

using Widths = Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

/// The type without sign, which has loops of its own where signs do not count.
DType unsigned_of(DType type) {
  switch (type) {
    case DType::i8:
    case DType::boolean:
      return DType::u8;
    case DType::i16:
      return DType::u16;
    case DType::i32:
      return DType::u32;
    case DType::i64:
      return DType::u64;
    default:
      return type;
  }
}

template <class F, bool kIsTest = false, class... Ts> PairLoop pair_of(DType type, Types<Ts...>) {
  PairLoop found = nullptr;
  ((type == dtype_of<Ts> ? void(found = zip_loop<Ts, std::conditional_t<kIsTest, bool, Ts>, F>) : void()), ...);
  return found;
}

PairLoop find_pair(Pair op, DType type) {
  using Reals = Types<float, double>;
  using Numbers = JoinTypes<Reals, Integers>;
  const DType bits = unsigned_of(type);
  if (type == DType::boolean && op != Pair::bit_and && op != Pair::bit_or && op != Pair::bit_xor && op != Pair::equal)
    return nullptr;
  switch (op) {
    case Pair::add:
      return pair_of<Add>(bits, JoinTypes<Reals, Widths>{});
    case Pair::subtract:
      return pair_of<Subtract>(bits, JoinTypes<Reals, Widths>{});
    case Pair::multiply:
      return pair_of<Multiply>(bits, JoinTypes<Reals, Widths>{});
    case Pair::divide:
      return pair_of<Divide>(type, Numbers{});
    case Pair::remainder:
      return pair_of<Remainder>(type, Integers{});
    case Pair::modulo:
      return pair_of<Modulo>(type, Integers{});
    case Pair::maximum:
      return pair_of<Maximum>(type, Numbers{});
    case Pair::minimum:
      return pair_of<Minimum>(type, Numbers{});
    case Pair::bit_and:
      return pair_of<BitAnd>(bits, Widths{});
    case Pair::bit_or:
      return pair_of<BitOr>(bits, Widths{});
    case Pair::bit_xor:
      return pair_of<BitXor>(bits, Widths{});
    case Pair::shift_left:
      return pair_of<ShiftLeft>(type, Widths{});
    case Pair::shift_right:
      return pair_of<ShiftRight>(type, Widths{});
    case Pair::equal:
      return pair_of<Equal, true>(bits, JoinTypes<Reals, Widths>{});
    case Pair::greater:
      return pair_of<Greater, true>(type, Numbers{});
    case Pair::greater_or_equal:
      return pair_of<GreaterOrEqual, true>(type, Numbers{});
  }
  return nullptr;
}

template <class T, class Out, class F> void map_loop(const void* xs, void* ys, std::int64_t n) {
  const T* HWY_RESTRICT x = static_cast<const T*>(xs);
  Out* HWY_RESTRICT y = static_cast<Out*>(ys);
  for (std::int64_t i = 0; i < n; ++i) y[i] = F::of(x[i]);
}

struct Absolute {
  template <class T> static T of(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return std::abs(x);
    else
      return x < T{0} ? Subtract::of(T{0}, x) : x;
  }
};
struct Negative {
  template <class T> static T of(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return Subtract::of(T{0}, x);
  }
};
struct Sign {
  template <class T> static T of(T x) {
    const T sign = static_cast<T>(static_cast<T>(x > T{0}) - static_cast<T>(x < T{0}));
    return x != x ? x : sign;
  }
};
struct Not {
  template <class T> static T of(T x) { return static_cast<T>(~x); }
};
struct IsZero {
  template <class T> static bool of(T x) { return x == 0; }
};
struct IsNaN {
  template <class T> static bool of(T x) { return x != x; }
};

template <class F, bool kIsTest = false, class... Ts> AloneLoop alone_of(DType type, Types<Ts...>) {
  AloneLoop found = nullptr;
  ((type == dtype_of<Ts> ? void(found = map_loop<Ts, std::conditional_t<kIsTest, bool, Ts>, F>) : void()), ...);
  return found;
}

AloneLoop find_alone(Alone op, DType type) {
  using Reals = Types<float, double>;
  using Numbers = JoinTypes<Reals, Integers>;
  switch (op) {
    case Alone::absolute:
      return alone_of<Absolute>(type, Numbers{});
    case Alone::negative:
      return alone_of<Negative>(type, JoinTypes<Reals, SignedIntegers>{});
    case Alone::sign:
      return alone_of<Sign>(type, Numbers{});
    case Alone::not_:
      return type == DType::boolean ? nullptr : alone_of<Not>(unsigned_of(type), Widths{});
    case Alone::is_zero:
      return alone_of<IsZero, true>(unsigned_of(type), Widths{});
    case Alone::is_nan:
      return alone_of<IsNaN, true>(type, Reals{});
  }
  return nullptr;
}

template <class T> bool any_zero(const void* xs, std::int64_t n) {
  const T* x = static_cast<const T*>(xs);
  std::int64_t zeros = 0;
  for (std::int64_t i = 0; i < n; ++i) zeros += x[i] == 0;
  return zeros != 0;
}

bool find_zero(DType type, const void* x, std::int64_t n) {
  switch (unsigned_of(type)) {
    case DType::u8:
      return any_zero<std::uint8_t>(x, n);
    case DType::u16:
      return any_zero<std::uint16_t>(x, n);
    case DType::u32:
      return any_zero<std::uint32_t>(x, n);
    default:
      return any_zero<std::uint64_t>(x, n);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(find_pair);
HWY_EXPORT(find_alone);
HWY_EXPORT(find_zero);

}  // namespace

PairLoop pair_loop(Pair op, DType type) { return HWY_DYNAMIC_DISPATCH(find_pair)(op, type); }

AloneLoop alone_loop(Alone op, DType type) { return HWY_DYNAMIC_DISPATCH(find_alone)(op, type); }

bool has_zero(DType type, const void* x, std::int64_t n) { return HWY_DYNAMIC_DISPATCH(find_zero)(type, x, n); }

}  // namespace ingot::engine
#endif
