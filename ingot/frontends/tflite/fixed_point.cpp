// Activations of integer LSTMs, to the last bit as TFLite computes them.
#include "ingot/frontends/tflite/fixed_point.h"

#include <algorithm>
#include <cmath>

namespace ingot::frontends::tflite {
namespace {

constexpr int kLeast = -32768, kMost = 32767;

int wrapped(int x) { return static_cast<std::int16_t>(x); }

/// a b / 2^15, rounded, halves upwards.
int product(int a, int b) {
  if (a == kLeast && b == kLeast) return kMost;
  const int wide = a * b;
  return (wide + (wide >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
}

/// x / 2^bits, rounded, halves away from zero.
int divided(int x, int bits) {
  const int rest = x & ((1 << bits) - 1), half = (((1 << bits) - 1) >> 1) + (x < 0 ? 1 : 0);
  return (x >> bits) + (rest > half ? 1 : 0);
}

/// x 2^bits within 16 bits.
int multiplied(int x, int bits) {
  if (bits == 0) return x;
  const int limit = (1 << (15 - bits)) - 1;
  return x > limit ? kMost : x < -limit ? kLeast : x * (1 << bits);
}

/// A number in [-1, 1) with 15 bits behind the point.
int fraction(double x) { return static_cast<int>(std::lround(x * 32768)); }

/// e^x for x in [-1/4, 0): a series around -1/8.
int exp_of_last_quarter(int a) {
  const int middle = fraction(std::exp(-0.125)), third = fraction(1.0 / 3);
  const int x = wrapped(a + (1 << 12)), x2 = product(x, x), x3 = product(x2, x), x4 = product(x2, x2);
  const int high = divided(wrapped(product(wrapped(divided(x4, 2) + x3), third) + x2), 1);
  return std::clamp(middle + product(middle, wrapped(x + high)), kLeast, kMost);
}

/// e^a for a <= 0: the last quarter, times the powers of e that its other bits stand for.
int exp_of_negative(int a, int integer_bits) {
  if (a == 0) return kMost;
  const int behind = 15 - integer_bits, quarter = 1 << (behind - 2);
  if (integer_bits > 5 && a < -(32 << behind)) return 0;
  const int last = wrapped((a & (quarter - 1)) - quarter), rest = wrapped(last - a);
  int result = exp_of_last_quarter(multiplied(last, integer_bits));
  for (int power = -2; power < std::min(integer_bits, 5); ++power)
    if (rest & (1 << (behind + power))) result = product(result, fraction(std::exp(-std::exp2(power))));
  return result;
}

/// 2 / (1 + a) by Newton's method, with 2 bits before the point.
int twice_reciprocal(int a) {
  constexpr int kOne = 1 << 13;
  const int half = (a + kMost + 1) / 2;
  int x = wrapped(fraction(48.0 / 17 / 4) + product(half, fraction(-32.0 / 17 / 4)));
  for (int i = 0; i < 3; ++i) {
    const int rest = wrapped(kOne - product(half, x));
    x = wrapped(x + multiplied(product(x, rest), 2));
  }
  return x;
}

int sigmoid(int a) {
  if (a == 0) return 1 << 14;
  const int positive = a > 0 ? a : wrapped(-a);
  const int result = multiplied(twice_reciprocal(exp_of_negative(wrapped(-positive), 3)), 1);
  return a > 0 ? result : wrapped(kMost - result);
}

int tanh_of(int a, int integer_bits) {
  if (a == 0) return 0;
  const int negative = a < 0 ? a : wrapped(-a);
  const int result = multiplied(wrapped(twice_reciprocal(exp_of_negative(negative, integer_bits + 1)) - (1 << 13)), 2);
  return a < 0 ? wrapped(-result) : result;
}

template <class F> std::vector<std::int16_t> table_of(F f) {
  std::vector<std::int16_t> all;
  all.reserve(1 << 16);
  for (int a = kLeast; a <= kMost; ++a) all.push_back(static_cast<std::int16_t>(f(a)));
  return all;
}

}  // namespace

std::vector<std::int16_t> fixed_sigmoid() { return table_of(sigmoid); }

std::vector<std::int16_t> fixed_tanh(int integer_bits) {
  return table_of([&](int a) { return tanh_of(a, integer_bits); });
}

FixedFactor fixed_factor(double factor) {
  if (factor == 0) return {};
  FixedFactor made;
  const double mantissa = std::frexp(factor, &made.exponent);
  const double rounded = std::round(mantissa * 2147483648.0) / 2147483648.0;
  made.mantissa = rounded;
  if (rounded == 1) {
    made.mantissa = 0.5;
    ++made.exponent;
  }
  return made.exponent < -31 ? FixedFactor{} : made;
}

}  // namespace ingot::frontends::tflite
