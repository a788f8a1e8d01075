// The gamma function's logarithm and its derivative.
#include "ingot/frontends/numeric/gamma.h"

#include <cmath>
#include <numbers>

namespace ingot::frontends::numeric {

/// Lanczos's sum with g = 7: the logarithm of the gamma function for x >= 1/2, to 15 digits.
Value* log_gamma_from_half(GraphBuilder& g, Value* x) {
  constexpr double kTerms[] = {676.5203681218851,  -1259.1392167224028,  771.32342877765313,    -176.61502916214059,
                               12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
  Value* z = g.sub(x, 1);
  Value* sum = nullptr;
  for (std::size_t i = 0; i < std::size(kTerms); ++i) {
    Value* term = g.div(kTerms[i], g.add(z, static_cast<double>(i + 1)));
    sum = sum ? g.add(sum, term) : g.add(term, 0.99999999999980993);
  }
  Value* t = g.add(z, 7.5);
  Value* power = g.mul(g.add(z, 0.5), g.op("Log", {t}));
  Value* log = g.op("Log", {sum});
  return g.add(g.sub(g.add(power, log), t), 0.5 * std::log(2 * std::numbers::pi));
}

/// For any positive argument: one step up keeps away from the pole.
Value* log_gamma_of_positive(GraphBuilder& g, Value* x) {
  Value* up = log_gamma_from_half(g, g.add(x, 1));
  return g.sub(up, g.op("Log", {x}));
}

Value* log_gamma(GraphBuilder& g, Value* x) {
  // Below 1/2 by reflection: log(pi / |sin(pi x)|) - log_gamma(1 - x).
  Value* is_low = g.op("Less", {x, g.scalar(0.5, DType::f64)});
  Value* other = g.where(is_low, g.sub(1, x), x);
  Value* direct = log_gamma_from_half(g, other);
  Value* sine = g.op("Abs", {g.op("Sin", {g.mul(x, std::numbers::pi)})});
  Value* mirrored = g.sub(g.sub(std::log(std::numbers::pi), g.op("Log", {sine})), direct);
  return g.where(is_low, mirrored, direct);
}

/// The asymptotic series, eight steps up from x > 0.
Value* digamma_of_positive(GraphBuilder& g, Value* x) {
  Value* steps = nullptr;
  for (int k = 0; k < 8; ++k) {
    Value* step = g.div(1, k ? g.add(x, static_cast<double>(k)) : x);
    steps = steps ? g.add(steps, step) : step;
  }
  Value* y = g.add(x, 8);
  Value* r = g.div(1, y);
  Value* r2 = g.mul(r, r);
  // r2 / 12 - r2^2 / 120 + r2^3 / 252 - r2^4 / 240
  Value* series = g.sub(1.0 / 252, g.mul(r2, 1.0 / 240));
  series = g.sub(1.0 / 120, g.mul(r2, series));
  series = g.mul(r2, g.sub(1.0 / 12, g.mul(r2, series)));
  Value* y_log = g.op("Log", {y});
  return g.sub(g.sub(g.sub(y_log, g.mul(r, 0.5)), series), steps);
}

Value* digamma(GraphBuilder& g, Value* x) {
  // Not above zero by reflection: digamma(1 - x) - pi / tan(pi x).
  Value* is_low = g.op("LessOrEqual", {x, g.scalar(0, DType::f64)});
  Value* other = g.where(is_low, g.sub(1, x), x);
  Value* direct = digamma_of_positive(g, other);
  Value* tangent = g.op("Tan", {g.mul(x, std::numbers::pi)});
  Value* mirrored = g.sub(direct, g.div(std::numbers::pi, tangent));
  return g.where(is_low, mirrored, direct);
}

}  // namespace ingot::frontends::numeric
