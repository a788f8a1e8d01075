// Plain loops that the compiler turns into vectors, for the CPU that runs them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/cast_loops.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/cast_loops.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ingot/base/checked.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {

template <class To, class From> To as_type(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, std::int32_t>) {
    // The largest float below 2^31, which stands for itself.
    constexpr float kBeyond = 2147483648.0f, kMost = 2147483520.0f;
    float real = value == value ? value : 0.0f;
    real = real < -kBeyond ? -kBeyond : real;
    real = real > kMost ? kMost : real;
    const auto whole = static_cast<std::int32_t>(real);
    return value >= kBeyond ? std::numeric_limits<std::int32_t>::max() : whole;
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) <= 4) {
    // Kept within what the integer holds, in a float that holds the ends.
    using Real = std::conditional_t<(sizeof(To) < 4), From, double>;
    constexpr auto kLeast = static_cast<Real>(std::numeric_limits<To>::min());
    constexpr auto kMost = static_cast<Real>(std::numeric_limits<To>::max());
    Real real = value == value ? static_cast<Real>(value) : Real{0};
    real = real < kLeast ? kLeast : real;
    real = real > kMost ? kMost : real;
    if constexpr (sizeof(To) < 4)
      return static_cast<To>(static_cast<std::int32_t>(real));
    else
      return static_cast<To>(real);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return saturate_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <class From, class To> void cast_all(const void* xs, void* ys, std::int64_t n) {
  const From* HWY_RESTRICT x = static_cast<const From*>(xs);
  To* HWY_RESTRICT y = static_cast<To*>(ys);
  for (std::int64_t i = 0; i < n; ++i) y[i] = as_type<To>(x[i]);
}

using Plain = JoinTypes<JoinTypes<Integers, Types<float, double>>, Types<bool>>;

template <class From, class... To> CastLoop cast_from(DType to, Types<To...>) {
  CastLoop found = nullptr;
  ((to == dtype_of<To> ? void(found = cast_all<From, To>) : void()), ...);
  return found;
}
template <class... From> CastLoop cast_between(DType from, DType to, Types<From...>) {
  CastLoop found = nullptr;
  ((from == dtype_of<From> ? void(found = cast_from<From>(to, Plain{})) : void()), ...);
  return found;
}

CastLoop find_cast(DType from, DType to) { return cast_between(from, to, Plain{}); }

void all_to_odd(const double* HWY_RESTRICT x, float* HWY_RESTRICT y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float nearest = static_cast<float>(x[i]);
    const auto back = static_cast<double>(nearest);
    const bool is_exact = (back == x[i]) | (x[i] != x[i]);
    // Towards zero, then odd. Beyond the largest float all are infinite in a smaller type.
    const bool is_away = std::abs(back) > std::abs(x[i]);
    std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
    bits = is_exact ? bits : (bits - (is_away ? 1u : 0u)) | 1u;
    y[i] = std::bit_cast<float>(bits);
  }
}

template <class T>
void choose(const bool* HWY_RESTRICT test, std::int64_t step, const void* xs, std::int64_t x_step, const void* ys,
            std::int64_t y_step, void* zs, std::int64_t n) {
  const T *HWY_RESTRICT x = static_cast<const T*>(xs), *HWY_RESTRICT y = static_cast<const T*>(ys);
  T* HWY_RESTRICT z = static_cast<T*>(zs);
  const auto* HWY_RESTRICT yes = reinterpret_cast<const std::uint8_t*>(test);
  const auto choose_row = [&](auto x_at, auto y_at) {
    for (std::int64_t i = 0; i < n; ++i) {
      const T p = x_at(i), q = y_at(i);
      z[i] = yes[i] != 0 ? p : q;
    }
  };
  const auto x_each = [&](std::int64_t i) { return x[i]; };
  const auto y_each = [&](std::int64_t i) { return y[i]; };
  const T x_one = *x, y_one = *y;
  const auto x_same = [&](std::int64_t) { return x_one; };
  const auto y_same = [&](std::int64_t) { return y_one; };
  if (step == 0)
    for (std::int64_t i = 0; i < n; ++i) z[i] = *yes != 0 ? x[i * x_step] : y[i * y_step];
  else if (x_step && y_step)
    choose_row(x_each, y_each);
  else if (x_step)
    choose_row(x_each, y_same);
  else if (y_step)
    choose_row(x_same, y_each);
  else
    choose_row(x_same, y_same);
}

ChoiceLoop find_choice(std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return choose<std::uint8_t>;
    case 2:
      return choose<std::uint16_t>;
    case 4:
      return choose<std::uint32_t>;
    case 8:
      return choose<std::uint64_t>;
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(find_cast);
HWY_EXPORT(all_to_odd);
HWY_EXPORT(find_choice);

}  // namespace

CastLoop cast_loop(DType from, DType to) { return HWY_DYNAMIC_DISPATCH(find_cast)(from, to); }

void narrow_to_odd(const double* x, float* y, std::int64_t n) { HWY_DYNAMIC_DISPATCH(all_to_odd)(x, y, n); }

ChoiceLoop choice_loop(std::int64_t bytes) { return HWY_DYNAMIC_DISPATCH(find_choice)(bytes); }

}  // namespace ingot::engine
#endif
