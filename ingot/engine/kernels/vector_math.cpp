// Elementwise functions of floats, a vector at a time, for the CPU that runs them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/vector_math.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#include "ingot/engine/kernels/vector_math.h"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<float> d;
using V = hn::Vec<decltype(d)>;

HWY_INLINE V number(float x) { return hn::Set(d, x); }

/// A polynomial from its highest coefficient down; written out, as loops over coefficients stay loops.
template <class... Floats> HWY_INLINE V polynomial(V x, float highest, Floats... lower) {
  V p = number(highest);
  ((p = hn::MulAdd(p, x, number(lower))), ...);
  return p;
}

using Ints = hn::Vec<hn::RebindToSigned<decltype(d)>>;
const hn::RebindToSigned<decltype(d)> ints;

/// x = n * log(2) + r with |r| <= log(2) / 2.
struct Exponential {
  Ints bits;  // n + kBias, in those of a float between 2^23 and 2^24
  V e;        // e^r
};
constexpr std::int32_t kBias = 127;
constexpr float kShift = 12582912.0f;  // added to this, a number has its integer part in its lowest bits

/// Of x, or of -x.
template <bool is_negated> HWY_INLINE Exponential split_exponential(V x) {
  const V shift = number(kShift + kBias);
  const V shifted = hn::MulAdd(x, number(is_negated ? -1.44269504f : 1.44269504f), shift), n = hn::Sub(shifted, shift);
  const V high = number(0.693359375f), low = number(-2.12194440e-4f);
  const V r = hn::NegMulAdd(n, low, is_negated ? hn::NegMulSub(n, high, x) : hn::NegMulAdd(n, high, x));
  const V p = polynomial(r, 1.3814539e-3f, 8.368745e-3f, 4.166839e-2f, 1.6666521e-1f, 4.9999994e-1f);
  return {hn::BitCast(ints, shifted), hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), number(1.0f))};
}

/// 2^n for n + kBias from 0 (which gives 0) to 255 (which gives infinity): its lowest bits are the exponent's.
HWY_INLINE V power_of_two(Ints biased) { return hn::BitCast(d, hn::ShiftLeft<23>(biased)); }

/// exp of anything: beyond the range of floats 0 or infinity, NaN for NaN.
HWY_INLINE V exp_of(V x) {
  // Where an operand is NaN, Min and Max give the second.
  const Exponential y = split_exponential<false>(hn::Min(number(89.0f), hn::Max(number(-104.0f), x)));
  // In two factors: one alone would overflow, or could not make subnormal numbers.
  const Ints bias = hn::Set(ints, kBias), n = hn::Sub(y.bits, hn::BitCast(ints, number(kShift + kBias)));
  const Ints half = hn::ShiftRight<1>(n);
  return hn::Mul(hn::Mul(y.e, power_of_two(hn::Add(half, bias))), power_of_two(hn::Add(hn::Sub(n, half), bias)));
}

/// exp of what is not positive; 0 where the result would be subnormal.
HWY_INLINE V exp_of_negative(V x) {
  const Exponential y = split_exponential<false>(hn::Max(number(-88.0f), x));
  return hn::Mul(y.e, power_of_two(y.bits));
}

/// 1 / (1 + e^-x): where e^-x is too large for a float it is infinite, and the result 0.
HWY_INLINE V sigmoid_of(V x) {
  const Exponential y = split_exponential<true>(hn::Min(number(88.0f), hn::Max(number(-88.7f), x)));
  const V one = number(1.0f);
  return hn::Div(one, hn::MulAdd(y.e, power_of_two(y.bits), one));
}

/// A rational function that equals tanh to the last bits of float, and 1 at the limit, with fused multiply-adds or not.
HWY_INLINE V tanh_of(V x) {
  const V limit = number(8.10417175f);
  const V c = hn::Min(limit, hn::Max(hn::Neg(limit), x));  // NaN where x is
  const V s = hn::Mul(c, c);
  const V p = polynomial(s, 1.490330170e-8f, 2.168325227e-5f, 3.559531411e-3f, 1.343454123e-1f, 1.0f);
  const V q = polynomial(s, 8.396449402e-7f, 3.391054343e-4f, 2.611918934e-2f, 4.676786959e-1f, 1.0f);
  return hn::Div(hn::Mul(c, p), q);
}

// A rational function that equals erf to the last bits of float within +-4, and +-1 outside.
HWY_INLINE V erf_of(V x) {
  const V c = hn::Min(number(4.0f), hn::Max(number(-4.0f), x));  // NaN where x is
  const V s = hn::Mul(c, c);
  const V p =
      polynomial(s, -2.72614225801306e-10f, 2.77068142495902e-08f, -2.10102402082508e-06f, -5.69250639462346e-05f,
                 -7.34990630326855e-04f, -2.95459980854025e-03f, -1.60960333262415e-02f);
  const V q = polynomial(s, -1.45660718464996e-05f, -2.13374055278905e-04f, -1.68282697438203e-03f,
                         -7.37332916720468e-03f, -1.42647390514189e-02f);
  return hn::Div(hn::Mul(c, p), q);
}

/// log of anything: -infinity for 0, NaN for negative numbers, subnormal numbers included.
HWY_INLINE V log_of(V x) {
  const V smallest = number(1.17549435e-38f);
  const auto is_subnormal = hn::And(hn::Lt(x, smallest), hn::Gt(x, hn::Zero(d)));
  const V scaled = hn::IfThenElse(is_subnormal, hn::Mul(x, number(16777216.0f)), x);
  const V y = hn::Sub(hn::Log(d, scaled), hn::IfThenElseZero(is_subnormal, number(16.6355323334f)));
  const V special = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), number(-HUGE_VALF), y);
  const V infinite = hn::IfThenElse(hn::Eq(x, number(HUGE_VALF)), x, special);
  return hn::IfThenElse(hn::Or(hn::Lt(x, hn::Zero(d)), hn::IsNaN(x)), number(NAN), infinite);
}

/// Keeps NaN, whose comparisons are all false.
HWY_INLINE V clip_of(V x, V low, V high) {
  const V above = hn::IfThenElse(hn::Lt(x, low), low, x);
  return hn::IfThenElse(hn::Gt(above, high), high, above);
}

/// The nearest multiple of the scale among so many steps from the lowest, which is counted in scales; NaN becomes 0.
HWY_INLINE V quantized(V x, V scale, V low, float steps) {
  const V quotient = hn::Div(x, scale);
  const V rounded = hn::IfThenZeroElse(hn::IsNaN(quotient), hn::Round(quotient));
  const V within = hn::Min(hn::Max(rounded, low), hn::Add(low, number(steps)));
  return hn::Mul(hn::Add(within, hn::Zero(d)), scale);  // no negative zeros: integers have none
}

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
  const V va = number(a), vb = number(b), zero = hn::Zero(d), one = number(1.0f), half = number(0.5f);
  switch (op) {
    case Unary::abs:
      return map(x, y, n, [&](V v) { return hn::Abs(v); });
    case Unary::ceil:
      return map(x, y, n, [&](V v) { return hn::Ceil(v); });
    case Unary::erf:
      return map(x, y, n, [&](V v) { return erf_of(v); });
    case Unary::exp:
      return map(x, y, n, [&](V v) { return exp_of(v); });
    case Unary::floor:
      return map(x, y, n, [&](V v) { return hn::Floor(v); });
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
    case Unary::hard_sigmoid:
      return map(x, y, n, [&](V v) { return clip_of(hn::MulAdd(v, va, vb), zero, one); });
    case Unary::hard_swish:
      return map(x, y, n,
                 [&](V v) { return hn::Mul(v, clip_of(hn::MulAdd(v, number(1.0f / 6.0f), half), zero, one)); });
    case Unary::leaky_relu:
      return map(x, y, n, [&](V v) { return hn::IfThenElse(hn::Lt(v, zero), hn::Mul(v, va), v); });
    case Unary::clip:
      return map(x, y, n, [&](V v) { return clip_of(v, va, vb); });
    case Unary::log:
      return map(x, y, n, [&](V v) { return log_of(v); });
    case Unary::negate:
      return map(x, y, n, [&](V v) { return hn::Neg(v); });
    case Unary::reciprocal:
      return map(x, y, n, [&](V v) { return hn::Div(one, v); });
    case Unary::relu:
      return map(x, y, n, [&](V v) { return hn::IfThenElse(hn::Lt(v, zero), zero, v); });
    case Unary::quantize_8:
      return map(x, y, n, [&](V v) { return quantized(v, va, vb, 255.0f); });
    case Unary::quantize_16:
      return map(x, y, n, [&](V v) { return quantized(v, va, vb, 65535.0f); });
    case Unary::round:
      return map(x, y, n, [&](V v) { return hn::Round(v); });
    case Unary::sigmoid:
      return map(x, y, n, [&](V v) { return sigmoid_of(v); });
    case Unary::softplus:
      return map(x, y, n, [&](V v) {
        const V tail = hn::Log1p(d, exp_of_negative(hn::Neg(hn::Abs(v))));
        return hn::IfThenElse(hn::IsNaN(v), v, hn::Add(hn::Max(v, zero), tail));
      });
    case Unary::sqrt:
      return map(x, y, n, [&](V v) { return hn::Sqrt(v); });
    case Unary::square:
      return map(x, y, n, [&](V v) { return hn::Mul(v, v); });
    case Unary::swish:
      return map(x, y, n, [&](V v) { return hn::Mul(v, sigmoid_of(hn::Mul(v, va))); });
    case Unary::tanh:
      return map(x, y, n, [&](V v) { return tanh_of(v); });
  }
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
  switch (op) {
    case Binary::add:
      return zip(x, x_step, y, y_step, z, n, [](V a, V b) { return hn::Add(a, b); });
    case Binary::subtract:
      return zip(x, x_step, y, y_step, z, n, [](V a, V b) { return hn::Sub(a, b); });
    case Binary::multiply:
      return zip(x, x_step, y, y_step, z, n, [](V a, V b) { return hn::Mul(a, b); });
    case Binary::divide:
      return zip(x, x_step, y, y_step, z, n, [](V a, V b) { return hn::Div(a, b); });
    // If either is NaN, so is the result.
    case Binary::maximum:
      return zip(x, x_step, y, y_step, z, n,
                 [](V a, V b) { return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::Gt(a, b), a, b)); });
    case Binary::minimum:
      return zip(x, x_step, y, y_step, z, n,
                 [](V a, V b) { return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::Lt(a, b), a, b)); });
    case Binary::gate:
      return zip(x, x_step, y, y_step, z, n, [](V a, V b) { return hn::IfThenElseZero(hn::Gt(a, hn::Zero(d)), b); });
  }
}

void next_cells(const float* gates, std::int64_t stride, float* cell, float* h, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto some = [&](const float* g, std::int64_t step, float* state, float* out) {
    const V in = sigmoid_of(hn::LoadU(d, g)), forget = sigmoid_of(hn::LoadU(d, g + 2 * step));
    const V fresh = tanh_of(hn::LoadU(d, g + 3 * step));
    const V now = hn::MulAdd(forget, hn::LoadU(d, state), hn::Mul(in, fresh));
    hn::StoreU(now, d, state);
    hn::StoreU(hn::Mul(sigmoid_of(hn::LoadU(d, g + step)), tanh_of(now)), d, out);
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) some(gates + i, stride, cell + i, h + i);
  if (i == n) return;
  HWY_ALIGN float rest[6 * hn::MaxLanes(d)] = {};
  float *state = rest + 4 * lanes, *out = rest + 5 * lanes;
  for (std::int64_t j = i; j < n; ++j) {
    for (std::int64_t k = 0; k < 4; ++k) rest[k * lanes + j - i] = gates[k * stride + j];
    state[j - i] = cell[j];
  }
  some(rest, lanes, state, out);
  for (std::int64_t j = i; j < n; ++j) {
    cell[j] = state[j - i];
    h[j] = out[j - i];
  }
}

void softmax(const float* x, float* y, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  float top = -HUGE_VALF;
  bool has_nan = false;
  if (n >= lanes) {
    V most = hn::LoadU(d, x);
    auto nan = hn::IsNaN(most);
    for (i = lanes; i + lanes <= n; i += lanes) {
      const V v = hn::LoadU(d, x + i);
      nan = hn::Or(nan, hn::IsNaN(v));
      most = hn::Max(most, v);
    }
    has_nan = !hn::AllFalse(d, nan);
    top = hn::GetLane(hn::MaxOfLanes(d, most));
  }
  for (; i < n; ++i) {
    has_nan |= std::isnan(x[i]);
    top = top < x[i] ? x[i] : top;
  }
  if (has_nan || std::isinf(top)) {
    // As the formula says: NaN everywhere, or where infinities meet.
    for (i = 0; i < n; ++i) y[i] = NAN;
    return;
  }
  const V shift = number(top);
  V sums = hn::Zero(d);
  for (i = 0; i + lanes <= n; i += lanes) {
    const V e = exp_of_negative(hn::Sub(hn::LoadU(d, x + i), shift));
    sums = hn::Add(sums, e);
    hn::StoreU(e, d, y + i);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  if (i < n) {
    HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
    for (std::int64_t j = i; j < n; ++j) rest[j - i] = x[j] - top;
    hn::Store(exp_of_negative(hn::Load(d, rest)), d, rest);
    for (std::int64_t j = i; j < n; ++j) {
      sum += rest[j - i];
      y[j] = rest[j - i];
    }
  }
  const V factor = number(1.0f / sum);
  map(y, y, n, [&](V v) { return hn::Mul(v, factor); });
}

void normalize(const float* x, const float* scale, const float* bias, float* y, std::int64_t n, float epsilon) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto total = [&](auto term, auto single) {
    V sums = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) sums = hn::Add(sums, term(hn::LoadU(d, x + i)));
    float sum = hn::GetLane(hn::SumOfLanes(d, sums));
    for (; i < n; ++i) sum += single(x[i]);
    return sum / static_cast<float>(n);
  };
  const float mean = total([](V v) { return v; }, [](float v) { return v; });
  const V center = number(mean);
  const float variance = total(
      [&](V v) {
        const V away = hn::Sub(v, center);
        return hn::Mul(away, away);
      },
      [&](float v) { return (v - mean) * (v - mean); });
  const float factor = 1.0f / std::sqrt(variance + epsilon);
  const V factors = number(factor);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V v = hn::Mul(hn::Mul(hn::Sub(hn::LoadU(d, x + i), center), factors), hn::LoadU(d, scale + i));
    hn::StoreU(bias ? hn::Add(v, hn::LoadU(d, bias + i)) : v, d, y + i);
  }
  for (; i < n; ++i) y[i] = (x[i] - mean) * factor * scale[i] + (bias ? bias[i] : 0.0f);
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(unary);
HWY_EXPORT(binary);
HWY_EXPORT(next_cells);
HWY_EXPORT(normalize);
HWY_EXPORT(softmax);

}  // namespace

void apply(Unary op, const float* x, float* y, std::int64_t n, float a, float b) {
  HWY_DYNAMIC_DISPATCH(unary)(op, x, y, n, a, b);
}

void apply(Binary op, const float* x, std::int64_t x_step, const float* y, std::int64_t y_step, float* z,
           std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(binary)(op, x, x_step, y, y_step, z, n);
}

void lstm_cells(const float* gates, std::int64_t stride, float* cell, float* h, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(next_cells)(gates, stride, cell, h, n);
}

void softmax_row(const float* x, float* y, std::int64_t n) { HWY_DYNAMIC_DISPATCH(softmax)(x, y, n); }

void normalize_row(const float* x, const float* scale, const float* bias, float* y, std::int64_t n, float epsilon) {
  HWY_DYNAMIC_DISPATCH(normalize)(x, scale, bias, y, n, epsilon);
}

}  // namespace ingot::engine
#endif
