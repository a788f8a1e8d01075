// Functions around gamma: incomplete integrals by series and continued fractions, sums by Euler and Maclaurin. In
// double.
#include <cmath>
#include <limits>
#include <numbers>

#include "ingot/frontends/tensorflow/repeat.h"
#include "ingot/frontends/tensorflow/special.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr std::int64_t kRounds = 200;  // enough where arguments are below some thousands
constexpr double kTiny = 1e-290;

Value* f64(GraphBuilder& g, double v) { return g.scalar(v, DType::f64); }

/// Both arguments in double and in the shape that they have together.
struct Two {
  Value *a, *b;
};
Two together(const TfNode& n, GraphBuilder& g) {
  Value* a = g.cast(n.input(0), DType::f64);
  Value* b = g.cast(n.input(1), DType::f64);
  Value* dims = g.shape(g.add(a, b));
  Value* wide = g.op("Expand", {a, dims});
  return {wide, g.op("Expand", {b, dims})};
}

Value* not_zero(GraphBuilder& g, Value* x) {
  Value* is_small = g.op("Less", {g.op("Abs", {x}), f64(g, kTiny)});
  return g.where(is_small, f64(g, kTiny), x);
}

/// For any positive argument: one step up keeps away from the pole.
Value* log_gamma_of_positive(GraphBuilder& g, Value* x) {
  Value* up = log_gamma(g, g.add(x, 1));
  return g.sub(up, g.op("Log", {x}));
}

/// x^a e^-x / gamma(a).
Value* density(GraphBuilder& g, Value* a, Value* x) {
  Value* power = g.mul(a, g.op("Log", {x}));
  Value* top = g.sub(power, x);
  return g.op("Exp", {g.sub(top, log_gamma_of_positive(g, a))});
}

/// The lower regularised integral by its series, for x <= a + 1: sum of x^k / (a (a+1) ... (a+k)).
Value* lower_by_series(GraphBuilder& g, Value* a, Value* x) {
  Value* first = g.div(1, a);
  const Values done =
      repeat(g, g.index(kRounds), {first, first}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
        Value* step = b.add(b.cast(k, DType::f64), 1);
        Value* term = b.mul(state[1], b.div(x, b.add(a, step)));
        return {b.add(state[0], term), term};
      });
  return g.mul(done[0], density(g, a, x));
}

/// The upper one by Lentz's continued fraction, for x > a + 1.
Value* upper_by_fraction(GraphBuilder& g, Value* a, Value* x) {
  Value* start = g.add(g.sub(x, a), 1);
  Value* c = filled_like(g, x, 1 / kTiny);
  Value* d = g.div(1, not_zero(g, start));
  const Values done =
      repeat(g, g.index(kRounds), {start, c, d, d}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
        Value* i = b.add(b.cast(k, DType::f64), 1);
        Value* an = b.neg(b.mul(i, b.sub(i, a)));
        Value* bn = b.add(state[0], 2);
        Value* next_d = b.div(1, not_zero(b, b.add(b.mul(an, state[2]), bn)));
        Value* next_c = not_zero(b, b.add(bn, b.div(an, state[1])));
        return {bn, next_c, next_d, b.mul(state[3], b.mul(next_d, next_c))};
      });
  return g.mul(done[3], density(g, a, x));
}

/// The regularised incomplete gamma function or what is missing to one.
Value* incomplete_gamma(const TfNode& n, GraphBuilder& g, bool is_upper) {
  const Two in = together(n, g);
  Value *a = in.a, *x = in.b;
  Value* is_low = g.op("LessOrEqual", {x, g.add(a, 1)});
  Value* is_zero = g.op("LessOrEqual", {x, f64(g, 0)});
  Value* one = f64(g, 1);
  // Each side sees arguments that suit it; what it makes of the others is thrown away.
  Value* low_x = g.where(g.op("Or", {is_zero, g.op("Not", {is_low})}), one, x);
  Value* low_a = g.where(g.op("Not", {is_low}), one, a);
  Value* low = lower_by_series(g, low_a, low_x);
  low = g.where(is_zero, f64(g, 0), low);
  Value* high_x = g.where(is_low, f64(g, 3), x);
  Value* high_a = g.where(is_low, one, a);
  Value* high = upper_by_fraction(g, high_a, high_x);
  Value* y = is_upper ? g.where(is_low, g.sub(1, low), high) : g.where(is_low, low, g.sub(1, high));
  Value* is_bad = g.op("Or", {g.op("Less", {x, f64(g, 0)}), g.op("LessOrEqual", {a, f64(g, 0)})});
  return g.cast(g.where(is_bad, f64(g, std::numeric_limits<double>::quiet_NaN()), y), n.elem(0));
}

/// Lentz's continued fraction of the incomplete beta function.
Value* beta_fraction(GraphBuilder& g, Value* a, Value* b, Value* x) {
  Value* sum = g.add(a, b);
  Value* above = g.add(a, 1);
  Value* below = g.sub(a, 1);
  Value* start = g.sub(1, g.div(g.mul(sum, x), above));
  Value* d = g.div(1, not_zero(g, start));
  Value* c = filled_like(g, x, 1);
  const Values done =
      repeat(g, g.index(kRounds), {c, d, d}, [&](GraphBuilder& w, Value* k, const Values& state) -> Values {
        Value* m = w.add(w.cast(k, DType::f64), 1);
        Value* twice = w.mul(m, 2);
        const auto turned = [&](Value* term, const Values& s) -> Values {
          Value* next_d = w.div(1, not_zero(w, w.add(w.mul(term, s[1]), 1)));
          Value* next_c = not_zero(w, w.add(w.div(term, s[0]), 1));
          return {next_c, next_d, w.mul(s[2], w.mul(next_d, next_c))};
        };
        Value* even_top = w.mul(w.mul(m, w.sub(b, m)), x);
        Value* first = w.add(below, twice);
        Value* second = w.add(a, twice);
        Value* even = w.div(even_top, w.mul(first, second));
        Value* sums = w.add(sum, m);
        Value* odd_top = w.neg(w.mul(w.mul(sums, w.add(a, m)), x));
        Value* third = w.add(above, twice);
        Value* odd = w.div(odd_top, w.mul(second, third));
        return turned(odd, turned(even, state));
      });
  return done[2];
}

}  // namespace

Values igamma(const TfNode& n, GraphBuilder& g) { return {incomplete_gamma(n, g, false)}; }
Values igammac(const TfNode& n, GraphBuilder& g) { return {incomplete_gamma(n, g, true)}; }

Values betainc(const TfNode& n, GraphBuilder& g) {
  Value* a = g.cast(n.input(0), DType::f64);
  Value* b = g.cast(n.input(1), DType::f64);
  Value* x = g.cast(n.input(2), DType::f64);
  Value* dims = g.shape(g.add(g.add(a, b), x));
  a = g.op("Expand", {a, dims});
  b = g.op("Expand", {b, dims});
  x = g.op("Expand", {x, dims});
  // The fraction converges fast below the mean; above it a and b change places.
  Value* above = g.add(a, 1);
  Value* mean = g.div(above, g.add(g.add(a, b), 2));
  Value* is_high = g.op("Greater", {x, mean});
  Value* p = g.where(is_high, b, a);
  Value* q = g.where(is_high, a, b);
  Value* z = g.where(is_high, g.sub(1, x), x);
  Value* is_end = g.op("LessOrEqual", {z, f64(g, 0)});
  Value* safe = g.where(is_end, f64(g, 0.25), z);
  Value* gammas = log_gamma_of_positive(g, g.add(p, q));
  gammas = g.sub(gammas, log_gamma_of_positive(g, p));
  gammas = g.sub(gammas, log_gamma_of_positive(g, q));
  Value* logs = g.add(gammas, g.mul(p, g.op("Log", {safe})));
  logs = g.add(logs, g.mul(q, g.op("Log", {g.sub(1, safe)})));
  Value* front = g.op("Exp", {logs});
  Value* part = g.div(g.mul(front, beta_fraction(g, p, q, safe)), p);
  part = g.where(is_end, f64(g, 0), part);
  return {g.cast(g.where(is_high, g.sub(1, part), part), n.elem(0))};
}

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

Values zeta(const TfNode& n, GraphBuilder& g) {
  const Two in = together(n, g);
  return {g.cast(hurwitz_zeta(g, in.a, in.b), n.elem(0))};
}

Values polygamma(const TfNode& n, GraphBuilder& g) {
  // (-1)^(k+1) k! zeta(k+1, x); for k = 0 it is digamma.
  const Two in = together(n, g);
  Value* is_first = g.op("Equal", {in.a, f64(g, 0)});
  Value* order = g.where(is_first, f64(g, 1), in.a);
  Value* factorial = g.op("Exp", {log_gamma(g, g.add(order, 1))});
  Value* is_odd = g.op("Equal", {g.op("Mod", {order, f64(g, 2)}, {{"fmod", 1}}), f64(g, 1)});
  Value* size = g.mul(factorial, hurwitz_zeta(g, g.add(order, 1), in.b));
  Value* y = g.where(is_odd, size, g.neg(size));
  y = g.where(is_first, digamma_of_positive(g, in.b), y);
  // Defined for whole orders only.
  Value* is_whole = g.op("Equal", {in.a, g.op("Floor", {in.a})});
  Value* is_order = g.op("And", {is_whole, g.op("GreaterOrEqual", {in.a, f64(g, 0)})});
  return {g.cast(g.where(is_order, y, f64(g, std::numeric_limits<double>::quiet_NaN())), n.elem(0))};
}

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

namespace {

/// I0 (order 0) or I1 (order 1) of |x|, times e^-|x|: the integral over [0, pi] of e^(x (cos t - 1)) cos(k t) / pi.
/// The function is smooth and periodic, so that the trapezoidal rule converges faster than any power.
Value* scaled_bessel(GraphBuilder& g, Value* x, int order) {
  constexpr int kPoints = 256;
  std::vector<double> rises, weights;
  for (int i = 0; i <= kPoints; ++i) {
    const double t = std::numbers::pi * i / kPoints;
    rises.push_back(std::cos(t) - 1);
    weights.push_back(std::cos(order * t) * (i == 0 || i == kPoints ? 0.5 : 1.0) / kPoints);
  }
  Value* along = g.constant(Tensor::of<double>({kPoints + 1}, rises));
  Value* each = g.op("Exp", {g.mul(g.unsqueeze(x, {-1}), along)});
  return g.reduce_sum(g.mul(each, g.constant(Tensor::of<double>({kPoints + 1}, weights))), {-1}, false);
}

Values bessel(const TfNode& n, GraphBuilder& g, int order, bool is_scaled) {
  Value* x = g.cast(n.input(0), DType::f64);
  Value* size = g.op("Abs", {x});
  Value* y = scaled_bessel(g, size, order);
  if (!is_scaled) y = g.mul(y, g.op("Exp", {size}));
  if (order == 1) y = g.mul(y, g.op("Sign", {x}));
  return {g.cast(y, n.elem(0))};
}

}  // namespace

Values erfinv(const TfNode& n, GraphBuilder& g) {
  return {g.cast(inverse_erf(g, g.cast(n.input(0), DType::f64)), n.elem(0))};
}
Values ndtri(const TfNode& n, GraphBuilder& g) {
  Value* y = g.sub(g.mul(g.cast(n.input(0), DType::f64), 2), 1);
  return {g.cast(g.mul(inverse_erf(g, y), std::numbers::sqrt2), n.elem(0))};
}
Values bessel_i0(const TfNode& n, GraphBuilder& g) { return bessel(n, g, 0, false); }
Values bessel_i0e(const TfNode& n, GraphBuilder& g) { return bessel(n, g, 0, true); }
Values bessel_i1(const TfNode& n, GraphBuilder& g) { return bessel(n, g, 1, false); }
Values bessel_i1e(const TfNode& n, GraphBuilder& g) { return bessel(n, g, 1, true); }

}  // namespace ingot::frontends::tensorflow
