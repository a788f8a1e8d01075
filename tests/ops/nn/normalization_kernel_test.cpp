// What the normalisations compute.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ops/op_case.h"
#include "tests/ops/typed.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using Ints = std::vector<std::int64_t>;

Array f64(Dims dims, const std::vector<double>& values) { return Array::of<double>(std::move(dims), values); }

void expect_near(const Array& actual, const std::vector<double>& expected) {
  const auto values = actual.to_doubles();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-6) << i;
}

TEST(BatchNormalizationKernel, UsesStoredStatistics) {
  const Array x = f64({1, 2, 2}, {1, 2, 3, 4});
  const Array y =
      run_op("BatchNormalization", {x, f64({2}, {1, 10}), f64({2}, {0, 5}), f64({2}, {1, 3}), f64({2}, {4, 1})},
             {{"epsilon", 0.0f}});
  expect_near(y, {0, 0.5, 5, 15});
}

TEST(BatchNormalizationKernel, UsesTheBatchInTraining) {
  const Array x = f64({2, 1, 2}, {1, 3, 1, 3}), one = f64({1}, {1}), zero = f64({1}, {0});
  const auto out = run_ops("BatchNormalization", {x, one, zero, f64({1}, {10}), f64({1}, {11})},
                           {{"training_mode", 1}, {"epsilon", 0.0f}, {"momentum", 0.75f}}, 3);
  expect_near(*out[0].array(), {-1, 1, -1, 1});
  expect_near(*out[1].array(), {8});    // 10 * 0.75 + 2 * 0.25
  expect_near(*out[2].array(), {8.5});  // 11 * 0.75 + 1 * 0.25
}

TEST(BatchNormalizationKernel, TakesABatchWithoutChannels) {
  const Array one = f64({1}, {1}), zero = f64({1}, {0});
  expect_near(run_op("BatchNormalization", {f64({2}, {3, 5}), one, zero, f64({1}, {3}), one}, {{"epsilon", 0.0f}}),
              {0, 2});
}

TEST(BatchNormalizationKernel, LetsParametersHaveTypesOfTheirOwn) {
  const Array x = typed(f64({1, 1, 2}, {1, 3}), DType::f16);
  const Array one = f64({1}, {1}), zero = Array::of<float>({1}, {0}), unit = Array::of<float>({1}, {1});
  const Array y = run_op("BatchNormalization", {x, unit, zero, one, one});
  EXPECT_EQ(y.dtype(), DType::f16);
  EXPECT_EQ(y.to_doubles().front(), 0);
}

TEST(BatchNormalizationKernel, RefusesParametersOfAnotherSize) {
  const Array x = f64({1, 2, 1}, {1, 2}), two = f64({2}, {1, 1}), one = f64({1}, {1});
  EXPECT_REFUSED(Code::execution_failed, run_op("BatchNormalization", {x, two, two, two, one}));
  EXPECT_REFUSED(Code::execution_failed, run_op("BatchNormalization", {f64({}, {1}), one, one, one, one}));
}

TEST(LayerNormalizationKernel, NormalisesTheLastAxes) {
  const Array x = f64({2, 2}, {1, 3, 10, 14}), scale = f64({2}, {1, 2}), bias = f64({2}, {0, 1});
  const auto out = run_ops("LayerNormalization", {x, scale, bias}, {{"epsilon", 0.0f}}, 3);
  expect_near(*out[0].array(), {-1, 3, -1, 3});
  EXPECT_EQ(out[1].array()->dims(), (Dims{2, 1}));
  expect_near(*out[1].array(), {2, 12});
  expect_near(*out[2].array(), {1, 0.5});
  EXPECT_EQ(out[2].array()->dtype(), DType::f32);
}

TEST(LayerNormalizationKernel, TakesAnyFirstAxis) {
  const Array x = f64({2, 2}, {1, 1, 3, 3}), scale = f64({}, {1});
  expect_near(run_op("LayerNormalization", {x, scale}, {{"axis", 0}, {"epsilon", 0.0f}}), {-1, -1, 1, 1});
  EXPECT_REFUSED(Code::axis_out_of_range, run_op("LayerNormalization", {x, scale}, {{"axis", 2}}));
  EXPECT_REFUSED(Code::execution_failed, run_op("LayerNormalization", {x, f64({3, 2, 2}, std::vector<double>(12))}));
}

TEST(InstanceNormalizationKernel, NormalisesEachChannelOfEachInstance) {
  const Array x = f64({1, 2, 2}, {1, 3, 10, 14}), scale = f64({2}, {1, 2}), bias = f64({2}, {5, 6});
  expect_near(run_op("InstanceNormalization", {x, scale, bias}, {{"epsilon", 0.0f}}), {4, 6, 4, 8});
}

TEST(GroupNormalizationKernel, NormalisesGroupsOfChannels) {
  const Array x = f64({1, 4, 1}, {1, 3, 10, 14}), scale = f64({4}, {1, 2, 3, 4}), bias = f64({4}, {0, 0, 0, 1});
  expect_near(run_op("GroupNormalization", {x, scale, bias}, {{"num_groups", 2}, {"epsilon", 0.0f}}), {-1, 2, -3, 5});
  EXPECT_REFUSED(Code::execution_failed, run_op("GroupNormalization", {x, scale, bias}, {{"num_groups", 3}}));
}

TEST(RMSNormalizationKernel, DividesByTheRootOfTheMeanSquare) {
  const Array x = f64({1, 2}, {1, 7}), scale = f64({2}, {1, 2});
  expect_near(run_op("RMSNormalization", {x, scale}, {{"epsilon", 0.0f}}), {0.2, 2.8});
}

TEST(MeanVarianceNormalizationKernel, NormalisesOverTheAxes) {
  const Array x = f64({2, 2}, {1, 5, 3, 9});
  expect_near(run_op("MeanVarianceNormalization", {x}, {{"axes", Ints{0}}}), {-1, -1, 1, 1});
  expect_near(run_op("MeanVarianceNormalization", {x}, {{"axes", Ints{-1}}}), {-1, 1, -1, 1});
  EXPECT_REFUSED(Code::axis_out_of_range, run_op("MeanVarianceNormalization", {x}));
}

TEST(LpNormalizationKernel, DividesByTheNorm) {
  const Array x = f64({2, 2}, {3, -4, 0, 0});
  expect_near(run_op("LpNormalization", {x}), {0.6, -0.8, 0, 0});
  expect_near(run_op("LpNormalization", {x}, {{"p", 1}, {"axis", 0}}), {1, -1, 0, 0});
}

TEST(LRNKernel, AddsSquaresOfNeighbouringChannels) {
  const Array x = f64({1, 4, 1}, {1, 2, 3, 4});
  const Attrs attrs = {{"size", 2}, {"alpha", 2.0f}, {"beta", 1.0f}, {"bias", 1.0f}};
  // An even size reaches one further to the next channels.
  expect_near(run_op("LRN", {x}, attrs), {1.0 / 6, 2.0 / 14, 3.0 / 26, 4.0 / 17});
  const Attrs wide = {{"size", 1'000'000'000'000}, {"alpha", 0.0f}, {"beta", 1.0f}, {"bias", 2.0f}};
  expect_near(run_op("LRN", {x}, wide), {0.5, 1, 1.5, 2});
}

}  // namespace
}  // namespace ingot::test
