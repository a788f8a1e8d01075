// Elementwise functions of floats, a vector at a time, for the CPU that runs them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/vector_math.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/vector_functions.inc"

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
template <class F> HWY_INLINE void map(const float* x, float* y, std::int64_t n, F f) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i)), d, y + i);
  if (i == n) return;
  HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
  for (std::int64_t j = i; j < n; ++j) rest[j - i] = x[j];
  hn::Store(f(hn::Load(d, rest)), d, rest);
  for (std::int64_t j = i; j < n; ++j) y[j] = rest[j - i];
}

void unary(Unary op, const float* x, float* y, std::int64_t n, float a, float b) {
  if (with_simple(op, a, b, [&](auto f) { map(x, y, n, f); })) return;
  const V va = number(a), vb = number(b), one = number(1.0f), half = number(0.5f);
  switch (op) {
    case Unary::elu:
      return map(x, y, n, [&](V v) {
        const V below = hn::Expm1(d, hn::Min(hn::Zero(d), hn::Max(number(-88.0f), v)));
        const V of_number = hn::Mul(vb, hn::IfThenElse(hn::Gt(v, hn::Zero(d)), v, hn::Mul(va, below)));
        return hn::IfThenElse(hn::IsNaN(v), v, of_number);
      });
    case Unary::erf:
      return map(x, y, n, [&](V v) { return erf_of(v); });
    case Unary::exp:
      return map(x, y, n, [&](V v) { return exp_of(v); });
    case Unary::gelu:
      return map(x, y, n, [&](V v) {
        return hn::Mul(hn::Mul(v, half), hn::Add(one, erf_of(hn::Mul(v, number(0.70710678118654752f)))));
      });
    case Unary::gelu_tanh:
      return map(x, y, n, [&](V v) {
        const V cube = hn::Mul(hn::Mul(v, v), hn::Mul(v, number(0.044715f)));
        return hn::Mul(hn::Mul(v, half),
                       hn::Add(one, tanh_of(hn::Mul(hn::Add(v, cube), number(0.79788456080286536f)))));
      });
    case Unary::log:
      return map(x, y, n, [&](V v) { return log_of(v); });
    case Unary::quantize_8:
      return map(x, y, n, [&](V v) { return quantized(v, va, vb, 255.0f); });
    case Unary::quantize_16:
      return map(x, y, n, [&](V v) { return quantized(v, va, vb, 65535.0f); });
    case Unary::sigmoid:
      return map(x, y, n, [&](V v) { return sigmoid_of(v); });
    case Unary::softplus:
      return map(x, y, n, [&](V v) {
        const V tail = hn::Log1p(d, exp_of_negative(hn::Neg(hn::Abs(v))));
        return hn::IfThenElse(hn::IsNaN(v), v, hn::Add(hn::Max(v, hn::Zero(d)), tail));
      });
    case Unary::swish:
      return map(x, y, n, [&](V v) { return hn::Mul(v, sigmoid_of(hn::Mul(v, va))); });
    case Unary::tanh:
      return map(x, y, n, [&](V v) { return tanh_of(v); });
    default:
      return;
  }
}

bool simple(Unary op) {
  return with_simple(op, 0, 0, [](auto) {});
}

template <class F>
HWY_INLINE void zip(const float* x, std::int64_t x_step, const float* y, std::int64_t y_step, float* z, std::int64_t n,
                    F f) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  if (x_step && y_step) {
    for (; i + lanes <= n; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, z + i);
  } else if (x_step) {
    const V b = number(*y);
    for (; i + lanes <= n; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i), b), d, z + i);
  } else if (y_step) {
    const V a = number(*x);
    for (; i + lanes <= n; i += lanes) hn::StoreU(f(a, hn::LoadU(d, y + i)), d, z + i);
  } else {
    const V c = f(number(*x), number(*y));
    for (; i + lanes <= n; i += lanes) hn::StoreU(c, d, z + i);
  }
  if (i == n) return;
  HWY_ALIGN float a[hn::MaxLanes(d)] = {}, b[hn::MaxLanes(d)] = {};
  for (std::int64_t j = i; j < n; ++j) a[j - i] = x[j * x_step], b[j - i] = y[j * y_step];
  hn::Store(f(hn::Load(d, a), hn::Load(d, b)), d, a);
  for (std::int64_t j = i; j < n; ++j) z[j] = a[j - i];
}

void binary(Binary op, const float* x, std::int64_t x_step, const float* y, std::int64_t y_step, float* z,
            std::int64_t n) {
  with(op, [&](auto f) { zip(x, x_step, y, y_step, z, n, f); });
}

/// K vectors through all steps, without leaving the registers: lambdas that are not inlined would find them in memory.
template <int K> HWY_INLINE void take(std::span<const JoinedStep> steps, const float* x, float* y, std::int64_t at) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V v[K];
  HWY_UNROLL(8)
  for (int k = 0; k < K; ++k) v[k] = hn::LoadU(d, x + at + k * lanes);
  const auto each = [&](auto f) __attribute__((always_inline)) {
    HWY_UNROLL(8)
    for (int k = 0; k < K; ++k) v[k] = f(v[k], at + k * lanes);
  };
  for (const JoinedStep& s : steps) {
    const auto single = [&](auto f) __attribute__((always_inline)) {
      each([&](V u, std::int64_t) { return f(u); });
    };
    const auto pair = [&](auto f) __attribute__((always_inline)) {
      if (!s.other)
        each([&](V u, std::int64_t) { return f(u, u); });
      else if (s.step && s.is_second)
        each([&](V u, std::int64_t i) { return f(hn::LoadU(d, s.other + i), u); });
      else if (s.step)
        each([&](V u, std::int64_t i) { return f(u, hn::LoadU(d, s.other + i)); });
      else if (s.is_second)
        each([&, w = number(*s.other)](V u, std::int64_t) { return f(w, u); });
      else
        each([&, w = number(*s.other)](V u, std::int64_t) { return f(u, w); });
    };
    if (s.is_binary)
      with(s.binary, pair);
    else
      with_simple(s.unary, s.a, s.b, single);
  }
  HWY_UNROLL(8)
  for (int k = 0; k < K; ++k) hn::StoreU(v[k], d, y + at + k * lanes);
}

void joined(std::span<const JoinedStep> steps, const float* x, float* y, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + 8 * lanes <= n; i += 8 * lanes) take<8>(steps, x, y, i);
  for (; i + lanes <= n; i += lanes) take<1>(steps, x, y, i);
  if (i == n) return;
  HWY_ALIGN float rest[kMostJoined + 1][hn::MaxLanes(d)] = {};
  JoinedStep last[kMostJoined];
  for (std::size_t k = 0; k < steps.size(); ++k) {
    last[k] = steps[k];
    if (!steps[k].other || !steps[k].step) continue;
    for (std::int64_t j = i; j < n; ++j) rest[k][j - i] = steps[k].other[j];
    last[k].other = rest[k];
  }
  float* const value = rest[kMostJoined];
  for (std::int64_t j = i; j < n; ++j) value[j - i] = x[j];
  take<1>(std::span(last, steps.size()), value, value, 0);
  for (std::int64_t j = i; j < n; ++j) y[j] = value[j - i];
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(unary);
HWY_EXPORT(simple);
HWY_EXPORT(binary);
HWY_EXPORT(joined);

}  // namespace

void apply(Unary op, const float* x, float* y, std::int64_t n, float a, float b) {
  HWY_DYNAMIC_DISPATCH(unary)(op, x, y, n, a, b);
}

void apply(Binary op, const float* x, std::int64_t x_step, const float* y, std::int64_t y_step, float* z,
           std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(binary)(op, x, x_step, y, y_step, z, n);
}

bool is_simple(Unary op) { return HWY_DYNAMIC_DISPATCH(simple)(op); }

void apply(std::span<const JoinedStep> steps, const float* x, float* y, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(joined)(steps, x, y, n);
}

}  // namespace ingot::engine
#endif
