// LSTM, fast and by the reference kernel.
#include <gtest/gtest.h>

#include <cmath>

#include "ingot/base/error.h"
#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

class LstmOf : public testing::TestWithParam<std::int64_t> {};  // so many units

TEST_P(LstmOf, AgreesInEveryDirection) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    Random random(7);
    Model model = empty_model();
    const std::int64_t count = std::string_view(direction) == "bidirectional" ? 2 : 1, hidden = GetParam(), inputs = 5;
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{6, 3, inputs}));
    GraphBuilder g(*model.graph);
    Value* w = g.constant(random.floats({count, 4 * hidden, inputs}));
    const float most = 2 / std::sqrt(static_cast<float>(hidden));
    Value* r = g.constant(random.floats({count, 4 * hidden, hidden}, -most, most));
    Value* b = g.constant(random.floats({count, 8 * hidden}));
    Value* h = g.constant(random.floats({count, 3, hidden}));
    Value* c = g.constant(random.floats({count, 3, hidden}));
    const Values y = g.op("LSTM", {x, w, r, b, nullptr, h, c}, {{"hidden_size", hidden}, {"direction", direction}}, 3);
    Value* all = g.concat({g.reshape(y[0], {-1}), g.reshape(y[1], {-1}), g.reshape(y[2], {-1})}, 0);
    model.graph->add_output(all);
    expect_same(model, Array::from(random.floats({6, 3, inputs})), 1e-5f);
  }
}

/// An LSTM that the fast kernel takes; `odd` has what is unusual about it.
void expect_fast_lstm(unsigned seed, std::int64_t hidden, const std::vector<std::int32_t>& lengths, bool has_peephole,
                      Attrs odd) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  Model model = empty_model();
  const char* const directions[] = {"forward", "reverse", "bidirectional"};
  const std::int64_t count = seed % 3 == 2 ? 2 : 1, inputs = 1 + random.below(7), steps = 6;
  const std::int64_t batch = lengths.empty() ? 3 : std::ssize(lengths);
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{steps, batch, inputs}));
  GraphBuilder g(*model.graph);
  Value* w = g.constant(random.floats({count, 4 * hidden, inputs}));
  const float most = 2 / std::sqrt(static_cast<float>(hidden));
  Value* r = g.constant(random.floats({count, 4 * hidden, hidden}, -most, most));
  Value* b = g.constant(random.floats({count, 8 * hidden}));
  Value* ends = lengths.empty() ? nullptr : g.constant(Tensor::of<std::int32_t>({batch}, lengths));
  Value* h = g.constant(random.floats({count, batch, hidden}));
  Value* c = g.constant(random.floats({count, batch, hidden}));
  Value* p = has_peephole ? g.constant(random.floats({count, 3 * hidden})) : nullptr;
  odd.emplace_back("hidden_size", hidden);
  odd.emplace_back("direction", directions[seed % 3]);
  const Values y = g.op("LSTM", {x, w, r, b, ends, h, c, p}, odd, 3);
  model.graph->add_output(g.concat({g.reshape(y[0], {-1}), g.reshape(y[1], {-1}), g.reshape(y[2], {-1})}, 0));
  expect_same(model, Array::from(random.floats({steps, batch, inputs}, -2, 2)), 1e-5f);
  for (const KernelChoice& choice : Session(model, {.threads = 1}).kernels())
    EXPECT_TRUE(choice.op != "LSTM" || choice.kernel == "lstm");
}

TEST(Lstm, AgreesForSequencesThatEndAtDifferentTimes) {
  const std::vector<std::int32_t> lengths[] = {{6, 2, 4}, {0, 6, 1, 6, 3}, {1, 1}, {0}, {6, 6}, {3}, {0, 0, 0}};
  unsigned seed = 0;
  for (const auto& ends : lengths)
    for (const std::int64_t hidden : {3, 19, 144}) expect_fast_lstm(seed++, hidden, ends, false, {});
}

TEST(Lstm, AgreesWithEveryFunctionPeepholesAndLimits) {
  using Names = std::vector<std::string>;
  const Names functions[] = {{"HardSigmoid", "Tanh", "Tanh"},
                             {"Sigmoid", "Relu", "Tanh"},
                             {"sigmoid", "softplus", "elu"},
                             {"Sigmoid", "LeakyRelu", "HardSigmoid"}};
  for (unsigned seed = 0; seed < 24; ++seed) {
    Names names = functions[seed / 3 % 4];
    if (seed % 3 == 2) names.insert(names.end(), {"HardSigmoid", "Tanh", "Relu"});
    Attrs odd = {{"activations", names}, {"activation_alpha", std::vector<float>{0.25f, 0.5f}}};
    if (seed % 2) odd.emplace_back("clip", 0.75f);
    if (seed % 5 == 0) odd.emplace_back("input_forget", std::int64_t{1});
    const auto lengths = seed % 4 == 3 ? std::vector<std::int32_t>{5, 6, 2} : std::vector<std::int32_t>{};
    expect_fast_lstm(seed, seed % 2 ? 19 : 128, lengths, seed % 3 != 1, odd);
  }
}

TEST(Lstm, RefusesLengthsThatDoNotFit) {
  for (const bool is_fast : {false, true}) {
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{2, 1, 1}));
    GraphBuilder g(*model.graph);
    Random random(1);
    Value *w = g.constant(random.floats({1, 4, 1})), *r = g.constant(random.floats({1, 4, 1}));
    Value* ends = g.constant(Tensor::of<std::int32_t>({1}, {3}));
    model.graph->add_output(g.op("LSTM", {x, w, r, nullptr, ends}, {{"hidden_size", 1}}));
    EXPECT_THROW(run(model, Array::from(random.floats({2, 1, 1})), is_fast, 1), Error);
  }
}

// Fewer than a vector, not whole panels, one part, several parts of which the last is shorter.
INSTANTIATE_TEST_SUITE_P(Units, LstmOf, testing::Values(3, 19, 64, 144, 208));

}  // namespace
}  // namespace ingot::engine
