// Functions of floats and doubles, a vector at a time, for the CPU that runs them. Numbers beyond the range of a
// vector's formula are computed one by one.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/function_loops.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#include "ingot/engine/kernels/function_loops.h"

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Where a vector's formula holds.
template <class T> struct Range { T low, high; };
template <class T> constexpr Range<T> kAll = {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};


struct Acos {
  template <class T> static constexpr Range<T> range = {-1, 1};
  template <class D, class V> static V vector(D d, V v) { return hn::Acos(d, v); }
  template <class T> static T exact(T x) { return std::acos(x); }
};
struct Acosh {
  template <class T> static constexpr Range<T> range = {1, std::numeric_limits<T>::max() / 4};
  template <class D, class V> static V vector(D d, V v) { return hn::Acosh(d, v); }
  template <class T> static T exact(T x) { return std::acosh(x); }
};
struct Asin {
  template <class T> static constexpr Range<T> range = {-1, 1};
  template <class D, class V> static V vector(D d, V v) { return hn::Asin(d, v); }
  template <class T> static T exact(T x) { return std::asin(x); }
};
struct Asinh {
  template <class T> static constexpr Range<T> range = {-T{1e9}, T{1e9}};
  template <class D, class V> static V vector(D d, V v) { return hn::Asinh(d, v); }
  template <class T> static T exact(T x) { return std::asinh(x); }
};
struct Atan {
  template <class T> static constexpr Range<T> range = kAll<T>;
  template <class D, class V> static V vector(D d, V v) { return hn::Atan(d, v); }
  template <class T> static T exact(T x) { return std::atan(x); }
};
struct Atanh {
  template <class T> static constexpr Range<T> range = {T{-0.99999}, T{0.99999}};
  template <class D, class V> static V vector(D d, V v) { return hn::Atanh(d, v); }
  template <class T> static T exact(T x) { return std::atanh(x); }
};
struct Cos {
  template <class T> static constexpr Range<T> range = {-30000, 30000};
  template <class D, class V> static V vector(D d, V v) { return hn::Cos(d, v); }
  template <class T> static T exact(T x) { return std::cos(x); }
};
struct Cosh {
  template <class T> static constexpr Range<T> range = {-80, 80};
  template <class D, class V> static V vector(D d, V v) {
    const V e = hn::Exp(d, hn::Abs(v)), half = hn::Set(d, 0.5);
    return hn::MulAdd(half, e, hn::Div(half, e));
  }
  template <class T> static T exact(T x) { return std::cosh(x); }
};
struct Exp {
  template <class T>
  static constexpr Range<T> range = {sizeof(T) == 4 ? T{-80} : T{-700}, sizeof(T) == 4 ? T{80} : T{700}};
  template <class D, class V> static V vector(D d, V v) { return hn::Exp(d, v); }
  template <class T> static T exact(T x) { return std::exp(x); }
};
struct Log {
  template <class T> static constexpr Range<T> range = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  template <class D, class V> static V vector(D d, V v) { return hn::Log(d, v); }
  template <class T> static T exact(T x) { return std::log(x); }
};
struct Mish {
  // tanh(log(1 + e)) = ((1 + e)^2 - 1) / ((1 + e)^2 + 1)
  template <class T> static constexpr Range<T> range = {-80, 18};
  template <class D, class V> static V vector(D d, V v) {
    const V e = hn::Exp(d, v), two = hn::Set(d, 2);
    const V n = hn::Mul(e, hn::Add(e, two));
    return hn::Div(hn::Mul(v, n), hn::Add(n, two));
  }
  template <class T> static T exact(T x) {
    return x * std::tanh((x > 0 ? x : T{0}) + std::log1p(std::exp(-std::abs(x))));
  }
};
struct Sigmoid {
  template <class T> static constexpr Range<T> range = {-80, 700};
  template <class D, class V> static V vector(D d, V v) {
    const V one = hn::Set(d, 1);
    return hn::Div(one, hn::Add(one, hn::Exp(d, hn::Neg(v))));
  }
  template <class T> static T exact(T x) {
    const T e = std::exp(-std::abs(x));
    return x < 0 ? e / (1 + e) : 1 / (1 + e);
  }
};
struct Sin {
  template <class T> static constexpr Range<T> range = {-30000, 30000};
  template <class D, class V> static V vector(D d, V v) { return hn::Sin(d, v); }
  template <class T> static T exact(T x) { return std::sin(x); }
};
struct Sinh {
  template <class T> static constexpr Range<T> range = {-80, 80};
  template <class D, class V> static V vector(D d, V v) { return hn::Sinh(d, v); }
  template <class T> static T exact(T x) { return std::sinh(x); }
};
struct Softsign {
  template <class T>
  static constexpr Range<T> range = {-std::numeric_limits<T>::infinity(), std::numeric_limits<T>::infinity()};
  template <class D, class V> static V vector(D d, V v) { return hn::Div(v, hn::Add(hn::Set(d, 1), hn::Abs(v))); }
  template <class T> static T exact(T x) { return x / (1 + std::abs(x)); }
};
struct Sqrt {
  template <class T>
  static constexpr Range<T> range = {-std::numeric_limits<T>::infinity(), std::numeric_limits<T>::infinity()};
  template <class D, class V> static V vector(D, V v) { return hn::Sqrt(v); }
  template <class T> static T exact(T x) { return std::sqrt(x); }
};
struct Tan {
  template <class T> static constexpr Range<T> range = {T{-1.5}, T{1.5}};
  template <class D, class V> static V vector(D d, V v) { return hn::Div(hn::Sin(d, v), hn::Cos(d, v)); }
  template <class T> static T exact(T x) { return std::tan(x); }
};
struct Tanh {
  template <class T> static constexpr Range<T> range = kAll<T>;
  template <class D, class V> static V vector(D d, V v) { return hn::Tanh(d, v); }
  template <class T> static T exact(T x) { return std::tanh(x); }
};

template <class T, class F> void map_function(const void* xs, void* ys, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T* x = static_cast<const T*>(xs);
  T* y = static_cast<T*>(ys);
  const auto low = hn::Set(d, F::template range<T>.low), high = hn::Set(d, F::template range<T>.high);
  const auto some = [&](const T* from, T* to, std::int64_t count) {
    const auto v = hn::LoadU(d, from);
    hn::StoreU(F::vector(d, v), d, to);
    if (hn::AllTrue(d, hn::And(hn::Ge(v, low), hn::Le(v, high)))) return;
    for (std::int64_t i = 0; i < count; ++i)
      if (!(from[i] >= F::template range<T>.low && from[i] <= F::template range<T>.high)) to[i] = F::exact(from[i]);
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) some(x + i, y + i, lanes);
  if (i == n) return;
  HWY_ALIGN T rest[hn::MaxLanes(d)] = {};
  HWY_ALIGN T made[hn::MaxLanes(d)];
  for (std::int64_t j = i; j < n; ++j) rest[j - i] = x[j];
  some(rest, made, n - i);
  for (std::int64_t j = i; j < n; ++j) y[j] = made[j - i];
}

template <class F> AloneLoop of_type(DType type) {
  return type == DType::f32 ? map_function<float, F> : type == DType::f64 ? map_function<double, F> : nullptr;
}

AloneLoop find_function(Function function, DType type) {
  switch (function) {
    case Function::acos:
      return of_type<Acos>(type);
    case Function::acosh:
      return of_type<Acosh>(type);
    case Function::asin:
      return of_type<Asin>(type);
    case Function::asinh:
      return of_type<Asinh>(type);
    case Function::atan:
      return of_type<Atan>(type);
    case Function::atanh:
      return of_type<Atanh>(type);
    case Function::cos:
      return of_type<Cos>(type);
    case Function::cosh:
      return of_type<Cosh>(type);
    case Function::exp:
      return of_type<Exp>(type);
    case Function::log:
      return of_type<Log>(type);
    case Function::mish:
      return of_type<Mish>(type);
    case Function::sigmoid:
      return of_type<Sigmoid>(type);
    case Function::sin:
      return of_type<Sin>(type);
    case Function::sinh:
      return of_type<Sinh>(type);
    case Function::softsign:
      return of_type<Softsign>(type);
    case Function::sqrt:
      return of_type<Sqrt>(type);
    case Function::tan:
      return of_type<Tan>(type);
    case Function::tanh:
      return of_type<Tanh>(type);
  }
  return nullptr;
}

void rotate(const float* HWY_RESTRICT x, const float* HWY_RESTRICT cosines, const float* HWY_RESTRICT sines,
            float* HWY_RESTRICT y, std::int64_t n, bool is_interleaved) {
  if (is_interleaved)
    for (std::int64_t i = 0; i < n; ++i) {
      y[2 * i] = cosines[i] * x[2 * i] - sines[i] * x[2 * i + 1];
      y[2 * i + 1] = sines[i] * x[2 * i] + cosines[i] * x[2 * i + 1];
    }
  else
    for (std::int64_t i = 0; i < n; ++i) {
      y[i] = cosines[i] * x[i] - sines[i] * x[i + n];
      y[i + n] = sines[i] * x[i] + cosines[i] * x[i + n];
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(find_function);
HWY_EXPORT(rotate);

}  // namespace

AloneLoop function_loop(Function function, DType type) { return HWY_DYNAMIC_DISPATCH(find_function)(function, type); }

void rotate_pairs(const float* x, const float* cosines, const float* sines, float* y, std::int64_t n,
                  bool is_interleaved) {
  HWY_DYNAMIC_DISPATCH(rotate)(x, cosines, sines, y, n, is_interleaved);
}

}  // namespace ingot::engine
#endif
