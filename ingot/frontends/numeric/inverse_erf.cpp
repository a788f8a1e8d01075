// The inverse of the error function.
#include "ingot/frontends/numeric/inverse_erf.h"

#include <limits>
#include <numbers>

#include "ingot/frontends/numeric/f64.h"

namespace ingot::frontends::numeric {
namespace {

/// The polynomial with these coefficients, the highest first.
template <std::size_t N> Value* polynomial(GraphBuilder& g, Value* x, const double (&terms)[N]) {
  Value* y = f64(g, terms[0]);
  for (std::size_t i = 1; i < N; ++i) y = g.add(g.mul(y, x), terms[i]);
  return y;
}

}  // namespace

/// Giles's approximation, then Newton's steps in double.
Value* inverse_erf(GraphBuilder& g, Value* y) {
  constexpr double kMiddle[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double kTail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                              -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  Value* is_end = g.op("GreaterOrEqual", {g.op("Abs", {y}), f64(g, 1)});
  Value* safe = g.where(is_end, f64(g, 0), y);
  Value* lower = g.sub(1, safe);
  Value* w = g.neg(g.op("Log", {g.mul(lower, g.add(safe, 1))}));
  Value* is_tail = g.op("GreaterOrEqual", {w, f64(g, 5)});
  Value* middle = polynomial(g, g.sub(w, 2.5), kMiddle);
  Value* tail = polynomial(g, g.sub(g.op("Sqrt", {w}), 3), kTail);
  Value* x = g.mul(safe, g.where(is_tail, tail, middle));
  for (int i = 0; i < 3; ++i) {
    Value* miss = g.sub(g.op("Erf", {x}), safe);
    Value* slope = g.mul(g.op("Exp", {g.neg(g.mul(x, x))}), 2 * std::numbers::inv_sqrtpi);
    Value* step = g.div(miss, slope);
    x = g.sub(x, g.where(is_tail, f64(g, 0), step));
  }
  Value* ends = g.mul(y, std::numeric_limits<double>::infinity());
  return g.where(is_end, ends, x);
}

}  // namespace ingot::frontends::numeric
