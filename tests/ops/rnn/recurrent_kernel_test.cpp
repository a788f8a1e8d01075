// What RNN, GRU and LSTM compute.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using Strings = std::vector<std::string>;

Array f64(Dims dims, const std::vector<double>& values) { return Array::of<double>(std::move(dims), values); }

void expect_near(const Datum& actual, const std::vector<double>& expected) {
  const auto values = actual.array()->to_doubles();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-6) << i;
}

// One input, one hidden unit, no activation: h' = x + h / 2.
const Array kW = f64({1, 1, 1}, {1}), kR = f64({1, 1, 1}, {0.5});
Attrs affine(Attrs more = {}) {
  more.push_back({"activations", Strings{"Affine", "Affine"}});
  return more;
}

TEST(RNNKernel, CarriesItsState) {
  const auto out = run_ops("RNN", {f64({3, 1, 1}, {4, 2, 1}), kW, kR}, affine(), 2);
  EXPECT_EQ(out[0].array()->dims(), (Dims{3, 1, 1, 1}));
  expect_near(out[0], {4, 4, 3});
  expect_near(out[1], {3});
}

TEST(RNNKernel, RunsBackwards) {
  expect_near(run_ops("RNN", {f64({3, 1, 1}, {4, 2, 1}), kW, kR}, affine({{"direction", "reverse"}}), 2)[0],
              {5.25, 2.5, 1});
  const Array w = f64({2, 1, 1}, {1, 1}), r = f64({2, 1, 1}, {0.5, 0.5});
  const auto both = run_ops("RNN", {f64({3, 1, 1}, {4, 2, 1}), w, r}, affine({{"direction", "bidirectional"}}), 2);
  expect_near(both[0], {4, 5.25, 4, 2.5, 3, 1});
  expect_near(both[1], {3, 5.25});
}

TEST(RNNKernel, StopsEachSequenceAtItsLength) {
  const Array x = f64({2, 2, 1}, {1, 2, 3, 4}), lengths = Array::of<std::int32_t>({2}, {1, 2});
  const Array start = f64({1, 2, 1}, {10, 20});
  const auto out = run_ops("RNN", {x, kW, kR, {}, lengths, start}, affine(), 2);
  expect_near(out[0], {6, 12, 0, 10});
  expect_near(out[1], {6, 10});
  const Array none = Array::of<std::int32_t>({2}, {0, 0});
  expect_near(run_ops("RNN", {x, kW, kR, {}, none, start}, affine(), 2)[1], {10, 20});
  const Array long_ones = Array::of<std::int32_t>({2}, {1, 3});
  EXPECT_REFUSED(Code::execution_failed, run_ops("RNN", {x, kW, kR, {}, long_ones}, affine(), 2));
}

TEST(RNNKernel, TakesBatchesFirst) {
  const Array x = f64({2, 2, 1}, {1, 3, 2, 4});
  const auto out = run_ops("RNN", {x, kW, kR}, affine({{"layout", 1}}), 2);
  EXPECT_EQ(out[0].array()->dims(), (Dims{2, 2, 1, 1}));
  expect_near(out[0], {1, 3.5, 2, 5});
  EXPECT_EQ(out[1].array()->dims(), (Dims{2, 1, 1}));
}

TEST(RNNKernel, AddsBothBiasesAndClips) {
  const Array bias = f64({1, 2}, {1, 2});
  expect_near(run_ops("RNN", {f64({1, 1, 1}, {1}), kW, kR, bias}, affine(), 1)[0], {4});
  expect_near(run_ops("RNN", {f64({1, 1, 1}, {1}), kW, kR, bias}, affine({{"clip", 1.5f}}), 1)[0], {1.5});
}

TEST(RNNKernel, KnowsEveryActivation) {
  struct Case {
    const char* name;
    double at_minus_2;
  };
  const Case cases[] = {{"Relu", 0},
                        {"Tanh", std::tanh(-2)},
                        {"Sigmoid", 1 / (1 + std::exp(2))},
                        {"Affine", 0.5 * -2 + 0.25},
                        {"LeakyRelu", -1},
                        {"ThresholdedRelu", 0},
                        {"ScaledTanh", 0.5 * std::tanh(0.25 * -2)},
                        {"HardSigmoid", 0},
                        {"Elu", 0.5 * std::expm1(-2)},
                        {"Softsign", -2.0 / 3},
                        {"Softplus", std::log1p(std::exp(-2))}};
  for (const Case& test : cases) {
    const Attrs attrs = {{"activations", Strings{test.name}},
                         {"activation_alpha", std::vector<float>{0.5f}},
                         {"activation_beta", std::vector<float>{0.25f}}};
    SCOPED_TRACE(test.name);
    expect_near(run_ops("RNN", {f64({1, 1, 1}, {-2}), kW, kR}, attrs, 1)[0], {test.at_minus_2});
  }
  const Attrs unknown = {{"activations", Strings{"Gelu"}}};
  EXPECT_REFUSED(Code::execution_failed, run_ops("RNN", {f64({1, 1, 1}, {-2}), kW, kR}, unknown, 1));
}

TEST(RNNKernel, GivesParametersToFunctionsThatHaveThem) {
  // The first function has none, so the list's only number is the second's.
  const Attrs attrs = {{"direction", "bidirectional"},
                       {"activations", Strings{"Tanh", "LeakyRelu"}},
                       {"activation_alpha", std::vector<float>{0.5f}}};
  const Array w = f64({2, 1, 1}, {1, 1}), r = f64({2, 1, 1}, {0, 0});
  expect_near(run_ops("RNN", {f64({1, 1, 1}, {-2}), w, r}, attrs, 1)[0], {std::tanh(-2), -1});
}

TEST(GRUKernel, MixesOldAndNewState) {
  // Gates update, reset, next; only biases, so that every gate is known.
  const Array w = f64({1, 3, 1}, {0, 0, 1}), r = f64({1, 3, 1}, {0, 0, 2}), start = f64({1, 1, 1}, {3});
  const Array bias = f64({1, 6}, {0.25, 0.5, 0, 0, 0, 10});
  const auto run = [&](std::int64_t before) {
    return run_ops("GRU", {f64({1, 1, 1}, {1}), w, r, bias, {}, start}, affine({{"linear_before_reset", before}}),
                   2)[1];
  };
  expect_near(run(0), {0.75 * (1 + 0.5 * 3 * 2 + 10) + 0.25 * 3});
  expect_near(run(1), {0.75 * (1 + 0.5 * (3 * 2 + 10)) + 0.25 * 3});
}

TEST(LSTMKernel, KeepsACell) {
  // Gates input, output, forget, cell, all without activation.
  const Attrs plain = {{"activations", Strings{"Affine", "Affine", "Affine"}}};
  const Array x = f64({1, 1, 1}, {1}), w = f64({1, 4, 1}, {0, 0, 0, 1}), r = f64({1, 4, 1}, {0, 0, 0, 0});
  const Array bias = f64({1, 8}, {0.5, 2, 0.25, 0, 0, 0, 0, 0}), h = f64({1, 1, 1}, {7}), c = f64({1, 1, 1}, {4});
  const auto out = run_ops("LSTM", {x, w, r, bias, {}, h, c}, plain, 3);
  expect_near(out[2], {0.25 * 4 + 0.5 * 1});
  expect_near(out[1], {2 * 1.5});
  // Peepholes of the gates input, output, forget; the output's sees the new cell.
  const auto peeped = run_ops("LSTM", {x, w, r, bias, {}, h, c, f64({1, 3}, {1, 10, 0.5})}, plain, 3);
  const double cell = (0.25 + 0.5 * 4) * 4 + (0.5 + 4) * 1;
  expect_near(peeped[2], {cell});
  expect_near(peeped[1], {(2 + 10 * cell) * cell});
  Attrs coupled = plain;
  coupled.push_back({"input_forget", 1});
  expect_near(run_ops("LSTM", {x, w, r, bias, {}, h, c}, coupled, 3)[2], {(1 - 0.5) * 4 + 0.5 * 1});
}

TEST(LSTMKernel, RefusesShapesThatDoNotFit) {
  const Array x = f64({1, 1, 1}, {1}), w = f64({1, 4, 1}, {0, 0, 0, 1}), r = f64({1, 4, 1}, {0, 0, 0, 0});
  EXPECT_REFUSED(Code::execution_failed, run_ops("LSTM", {x, w, f64({1, 2, 1}, {0, 0})}, {}, 1));
  EXPECT_REFUSED(Code::execution_failed, run_ops("LSTM", {x, w, r, f64({1, 4}, {0, 0, 0, 0})}, {}, 1));
  EXPECT_REFUSED(Code::execution_failed, run_ops("LSTM", {x, w, r}, {{"hidden_size", 2}}, 1));
  EXPECT_REFUSED(Code::inference_failed, run_ops("LSTM", {x, w, r}, {{"direction", "sideways"}}, 1));
  EXPECT_REFUSED(Code::execution_failed, run_ops("LSTM", {x, w, r}, {{"activations", Strings{"Tanh"}}}, 1));
}

}  // namespace
}  // namespace ingot::test
