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

/// x = n * log(2) + r with |r| <= log(2) / 2, and e^r.
struct Exponential {
  Ints n;
  V e;
};
HWY_INLINE Exponential split_exponential(V x) {
  // Added to this, a number has its integer part in its lowest bits.
  const V shift = number(12582912.0f);
  const V shifted = hn::MulAdd(x, number(1.44269504f), shift), n = hn::Sub(shifted, shift);
  const V r = hn::NegMulAdd(n, number(-2.12194440e-4f), hn::NegMulAdd(n, number(0.693359375f), x));
  const V p = polynomial(r, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f,
                         5.0000001201e-1f);
  return {hn::Sub(hn::BitCast(ints, shifted), hn::BitCast(ints, shift)),
          hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), number(1.0f))};
}

/// 2^n for n from -127 (which gives 0) to 127.
HWY_INLINE V power_of_two(Ints n) { return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(ints, 127)))); }

/// exp of anything: beyond the range of floats 0 or infinity, NaN for NaN.
HWY_INLINE V exp_of(V x) {
  // Where an operand is NaN, Min and Max give the second.
  const Exponential y = split_exponential(hn::Min(number(89.0f), hn::Max(number(-104.0f), x)));
  // In two factors: one alone would overflow, or could not make subnormal numbers.
  const Ints half = hn::ShiftRight<1>(y.n);
  return hn::Mul(hn::Mul(y.e, power_of_two(half)), power_of_two(hn::Sub(y.n, half)));
}

/// exp of what is not positive; 0 where the result would be subnormal.
HWY_INLINE V exp_of_negative(V x) {
  const Exponential y = split_exponential(hn::Max(number(-88.0f), x));
  return hn::Mul(y.e, power_of_two(y.n));
}

HWY_INLINE V sigmoid_of(V x) {
  // 1 / (1 + e^-x), or e^x / (1 + e^x): e^-|x| never overflows.
  const V one = number(1.0f), e = exp_of_negative(hn::Or(x, hn::SignBit(d)));
  return hn::Div(hn::IfNegativeThenElse(x, e, one), hn::Add(one, e));
}

// A rational function that equals tanh to the last bits of float within +-7.9, and +-1 outside.
HWY_INLINE V tanh_of(V x) {
  const V limit = number(7.90531110763549805f);
  const V c = hn::Min(limit, hn::Max(hn::Neg(limit), x));  // NaN where x is
  const V s = hn::Mul(c, c);
  const V p = polynomial(s, -2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f,
                         5.12229709037114e-08f, 1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f);
  const V q = polynomial(s, 1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f);
  const V y = hn::Div(hn::Mul(c, p), q);
  const V near = hn::IfThenElse(hn::Lt(hn::Abs(x), number(0.0004f)), x, y);
  return hn::IfThenElse(hn::Ge(hn::Abs(x), limit), hn::CopySign(number(1.0f), x), near);
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
