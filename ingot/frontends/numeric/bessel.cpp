// Modified Bessel functions.
#include "ingot/frontends/numeric/bessel.h"

#include <cmath>
#include <numbers>

namespace ingot::frontends::numeric {
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

}  // namespace

Value* bessel(GraphBuilder& g, Value* x, int order, bool is_scaled) {
  Value* size = g.op("Abs", {x});
  Value* y = scaled_bessel(g, size, order);
  if (!is_scaled) y = g.mul(y, g.op("Exp", {size}));
  if (order == 1) y = g.mul(y, g.op("Sign", {x}));
  return y;
}

}  // namespace ingot::frontends::numeric
