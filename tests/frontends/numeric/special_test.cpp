// Special functions as graphs, beside those of the standard library and known values.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "ingot/engine/session.h"
#include "ingot/frontends/numeric/bessel.h"
#include "ingot/frontends/numeric/gamma.h"
#include "ingot/frontends/numeric/incomplete_gamma.h"
#include "ingot/frontends/numeric/inverse_erf.h"
#include "ingot/frontends/numeric/zeta.h"
#include "ingot/ir/model.h"
#include "ingot/ops/schema.h"

namespace ingot::frontends::numeric {
namespace {

using Reals = std::vector<double>;
using Write = std::function<Value*(GraphBuilder&, const Values&)>;

/// What the graph gives for inputs of one shape.
Reals computed(const std::vector<Reals>& inputs, const Write& write) {
  Model model;
  model.opsets.set("", ops::newest_opset(""));
  GraphBuilder g(*model.graph);
  Values values;
  for (const Reals& input : inputs)
    values.push_back(g.constant(Tensor::of<double>({static_cast<std::int64_t>(input.size())}, input)));
  model.graph->add_output(g.op("Identity", {write(g, values)}));
  return engine::Session(model).run({}).at(0).value.array()->to_doubles();
}

void expect_near(const Reals& got, const Reals& wanted, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], tolerance * std::max(1.0, std::abs(wanted[i]))) << i;
}

TEST(Gamma, LogarithmAgreesWithTheLibrarys) {
  const Reals x{-3.7, -0.25, 0.1, 0.5, 1, 2.5, 30, 1e3};
  Reals wanted;
  for (const double v : x) wanted.push_back(std::lgamma(v));
  expect_near(computed({x}, [](GraphBuilder& g, const Values& v) { return log_gamma(g, v[0]); }), wanted, 1e-12);
}

TEST(Gamma, DigammaHasItsKnownValues) {
  const double euler = std::numbers::egamma;
  const Reals wanted{-euler, 1 - euler, -euler - 2 * std::numbers::ln2, 2 - euler - 2 * std::numbers::ln2};
  const auto digamma_of = [](GraphBuilder& g, const Values& v) { return digamma(g, v[0]); };
  expect_near(computed({{1, 2, 0.5, -0.5}}, digamma_of), wanted, 1e-9);
}

TEST(IncompleteGamma, OfWholeOrdersIsAFiniteSum) {
  // Q(2, x) = e^-x (1 + x)
  const Reals x{0.1, 1, 2.9, 3.1, 10};
  Reals upper, lower;
  for (const double v : x) {
    upper.push_back(std::exp(-v) * (1 + v));
    lower.push_back(1 - upper.back());
  }
  const Reals two(x.size(), 2);
  for (const bool is_upper : {false, true}) {
    const auto write = [&](GraphBuilder& g, const Values& v) { return incomplete_gamma(g, v[0], v[1], is_upper); };
    expect_near(computed({two, x}, write), is_upper ? upper : lower, 1e-12);
  }
}

TEST(IncompleteBeta, HasItsKnownValues) {
  // I(x; 2, 3) = 6 x^2 - 8 x^3 + 3 x^4
  const Reals x{0, 0.2, 0.5, 0.9, 1};
  Reals wanted;
  for (const double v : x) wanted.push_back(6 * v * v - 8 * v * v * v + 3 * v * v * v * v);
  const auto write = [](GraphBuilder& g, const Values& v) { return incomplete_beta(g, v[0], v[1], v[2]); };
  expect_near(computed({Reals(x.size(), 2), Reals(x.size(), 3), x}, write), wanted, 1e-12);
}

TEST(Zeta, OfEvenNumbersIsAPowerOfPi) {
  const double pi = std::numbers::pi;
  const auto write = [](GraphBuilder& g, const Values& v) { return hurwitz_zeta(g, v[0], v[1]); };
  expect_near(computed({{2, 4, 2}, {1, 1, 0.5}}, write), {pi * pi / 6, std::pow(pi, 4) / 90, pi * pi / 2}, 1e-12);
}

TEST(Polygamma, NeedsAWholeOrder) {
  const double pi = std::numbers::pi;
  const auto write = [](GraphBuilder& g, const Values& v) { return polygamma(g, v[0], v[1]); };
  const Reals got = computed({{1, 0, 0.5, -1}, {1, 1, 1, 1}}, write);
  EXPECT_NEAR(got[0], pi * pi / 6, 1e-12);
  EXPECT_NEAR(got[1], -std::numbers::egamma, 1e-9);
  EXPECT_TRUE(std::isnan(got[2]));
  EXPECT_TRUE(std::isnan(got[3]));
}

TEST(InverseErf, UndoesErf) {
  const Reals x{-3, -1, -0.1, 0, 0.4, 2};
  Reals y;
  for (const double v : x) y.push_back(std::erf(v));
  const auto write = [](GraphBuilder& g, const Values& v) { return inverse_erf(g, v[0]); };
  expect_near(computed({y}, write), x, 1e-6);
  const Reals ends = computed({{-1, 1}}, write);
  EXPECT_TRUE(std::isinf(ends[0]) && ends[0] < 0 && std::isinf(ends[1]) && ends[1] > 0);
}

TEST(Bessel, AgreesWithTheLibrarys) {
  const Reals x{0.1, 1, 5, 20};
  for (const int order : {0, 1}) {
    Reals wanted;
    for (const double v : x) wanted.push_back(std::cyl_bessel_i(order, v) * std::exp(-v));
    const auto write = [&](GraphBuilder& g, const Values& v) { return bessel(g, v[0], order, true); };
    expect_near(computed({x}, write), wanted, 1e-12);
  }
}

}  // namespace
}  // namespace ingot::frontends::numeric
