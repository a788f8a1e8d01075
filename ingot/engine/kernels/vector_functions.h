// Functions of one vector of floats. Included once per kind of CPU by files that foreach_target.h includes so: those
// include highway.h before it.
#if defined(INGOT_ENGINE_VECTOR_FUNCTIONS) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_ENGINE_VECTOR_FUNCTIONS
#undef INGOT_ENGINE_VECTOR_FUNCTIONS
#else
#define INGOT_ENGINE_VECTOR_FUNCTIONS
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>

#include "ingot/engine/kernels/vector_math.h"

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

/// Calls `use` with the function, if it is a few instructions; false if it is not.
template <class Use> HWY_INLINE bool with_simple(Unary op, float a, float b, Use use) {
  const V va = number(a), vb = number(b), zero = hn::Zero(d), one = number(1.0f);
  switch (op) {
    case Unary::abs:
      return use([](V v) { return hn::Abs(v); }), true;
    case Unary::ceil:
      return use([](V v) { return hn::Ceil(v); }), true;
    case Unary::clip:
      return use([=](V v) { return clip_of(v, va, vb); }), true;
    case Unary::floor:
      return use([](V v) { return hn::Floor(v); }), true;
    case Unary::hard_sigmoid:
      return use([=](V v) { return clip_of(hn::MulAdd(v, va, vb), zero, one); }), true;
    case Unary::hard_swish:
      return use([=](V v) { return hn::Mul(v, clip_of(hn::MulAdd(v, number(1.0f / 6.0f), number(0.5f)), zero, one)); }),
             true;
    case Unary::leaky_relu:
      return use([=](V v) { return hn::IfThenElse(hn::Lt(v, zero), hn::Mul(v, va), v); }), true;
    case Unary::negate:
      return use([](V v) { return hn::Neg(v); }), true;
    case Unary::reciprocal:
      return use([=](V v) { return hn::Div(one, v); }), true;
    case Unary::relu:
      return use([=](V v) { return hn::IfThenElse(hn::Lt(v, zero), zero, v); }), true;
    case Unary::round:
      return use([](V v) { return hn::Round(v); }), true;
    case Unary::sqrt:
      return use([](V v) { return hn::Sqrt(v); }), true;
    case Unary::square:
      return use([](V v) { return hn::Mul(v, v); }), true;
    default:
      return false;
  }
}

/// The same for all functions of two vectors, which are all simple.
template <class Use> HWY_INLINE void with(Binary op, Use use) {
  switch (op) {
    case Binary::add:
      return use([](V a, V b) { return hn::Add(a, b); });
    case Binary::subtract:
      return use([](V a, V b) { return hn::Sub(a, b); });
    case Binary::multiply:
      return use([](V a, V b) { return hn::Mul(a, b); });
    case Binary::divide:
      return use([](V a, V b) { return hn::Div(a, b); });
    // If either is NaN, so is the result.
    case Binary::maximum:
      return use([](V a, V b) { return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::Gt(a, b), a, b)); });
    case Binary::minimum:
      return use([](V a, V b) { return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::Lt(a, b), a, b)); });
    case Binary::gate:
      return use([](V a, V b) { return hn::IfThenElseZero(hn::Gt(a, hn::Zero(d)), b); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();
#endif
