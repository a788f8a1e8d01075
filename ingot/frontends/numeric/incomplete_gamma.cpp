// Incomplete integrals, by series and continued fractions.
#include "ingot/frontends/numeric/incomplete_gamma.h"

#include <limits>

#include "ingot/frontends/numeric/f64.h"
#include "ingot/frontends/numeric/gamma.h"
#include "ingot/frontends/repeat.h"

namespace ingot::frontends::numeric {
namespace {

constexpr std::int64_t kRounds = 200;  // enough where arguments are below some thousands
constexpr double kTiny = 1e-290;

Value* not_zero(GraphBuilder& g, Value* x) {
  Value* is_small = g.op("Less", {g.op("Abs", {x}), f64(g, kTiny)});
  return g.where(is_small, f64(g, kTiny), x);
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

Value* incomplete_gamma(GraphBuilder& g, Value* a, Value* x, bool is_upper) {
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
  return g.where(is_bad, f64(g, std::numeric_limits<double>::quiet_NaN()), y);
}

Value* incomplete_beta(GraphBuilder& g, Value* a, Value* b, Value* x) {
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
  return g.where(is_high, g.sub(1, part), part);
}

}  // namespace ingot::frontends::numeric
