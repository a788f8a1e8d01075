// Sums by Euler and Maclaurin: Hurwitz's zeta function and what is made of it.
#include "ingot/frontends/numeric/zeta.h"

#include <limits>

#include "ingot/frontends/numeric/f64.h"
#include "ingot/frontends/numeric/gamma.h"

namespace ingot::frontends::numeric {

Value* hurwitz_zeta(GraphBuilder& g, Value* s, Value* q) {
  // Ten terms, then the integral and seven of Bernoulli's corrections.
  constexpr int kTerms = 10;
  constexpr double kOver[] = {12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10};
  Value* minus = g.neg(s);
  Value* sum = nullptr;
  for (int k = 0; k < kTerms; ++k) {
    Value* term = g.op("Pow", {k ? g.add(q, static_cast<double>(k)) : q, minus});
    sum = sum ? g.add(sum, term) : term;
  }
  Value* w = g.add(q, kTerms);
  Value* power = g.op("Pow", {w, minus});
  Value* rising = g.mul(power, w);
  sum = g.add(sum, g.div(rising, g.sub(s, 1)));
  sum = g.add(sum, g.mul(power, 0.5));
  Value* factor = g.mul(power, g.div(s, w));
  for (std::size_t i = 0; i < std::size(kOver); ++i) {
    sum = g.add(sum, g.div(factor, kOver[i]));
    const double k = static_cast<double>(2 * i + 1);
    Value* next = g.add(s, k);
    Value* up = g.mul(next, g.add(s, k + 1));
    factor = g.mul(factor, g.div(up, g.mul(w, w)));
  }
  return sum;
}

Value* polygamma(GraphBuilder& g, Value* order, Value* x) {
  // (-1)^(k+1) k! zeta(k+1, x); for k = 0 it is digamma.
  Value* is_first = g.op("Equal", {order, f64(g, 0)});
  Value* k = g.where(is_first, f64(g, 1), order);
  Value* factorial = g.op("Exp", {log_gamma_from_half(g, g.add(k, 1))});
  Value* is_odd = g.op("Equal", {g.op("Mod", {k, f64(g, 2)}, {{"fmod", 1}}), f64(g, 1)});
  Value* size = g.mul(factorial, hurwitz_zeta(g, g.add(k, 1), x));
  Value* y = g.where(is_odd, size, g.neg(size));
  y = g.where(is_first, digamma_of_positive(g, x), y);
  // Defined for whole orders only.
  Value* is_whole = g.op("Equal", {order, g.op("Floor", {order})});
  Value* is_order = g.op("And", {is_whole, g.op("GreaterOrEqual", {order, f64(g, 0)})});
  return g.where(is_order, y, f64(g, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace ingot::frontends::numeric
