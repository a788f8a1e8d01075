// Chains of elementwise operators, fast and by reference kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

/// Elementwise operators with operands that broadcast in every way.
class RandomChain : public testing::TestWithParam<unsigned> {};

TEST_P(RandomChain, GivesTheSameNumbersFast) {
  Random random(GetParam());
  Model model = empty_model();
  const Dims dims = {1 + random.below(3), 1 + random.below(40), 1 + random.below(9)};
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape(dims.begin(), dims.end())));
  GraphBuilder g(*model.graph);
  constexpr ops::Name kUnary[] = {"Abs", "Neg", "Relu", "Sigmoid", "Tanh", "Erf", "Softplus", "Gelu", "HardSwish"};
  constexpr ops::Name kBinary[] = {"Add", "Sub", "Mul", "Max", "Min"};
  Values values = {x};
  for (int i = 0; i < 12; ++i) {
    Value* a = values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(values.size())))];
    if (random.below(2)) {
      values.push_back(g.op(kUnary[random.below(9)], {a}));
      continue;
    }
    Value* b = values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(values.size())))];
    if (random.below(2)) {
      Dims smaller = dims;
      for (std::int64_t& d : smaller)
        if (random.below(2)) d = 1;
      if (random.below(2)) smaller.erase(smaller.begin());
      b = g.constant(random.floats(smaller));
    }
    values.push_back(g.op(kBinary[random.below(5)], {a, b}));
  }
  model.graph->add_output(values.back());
  const Array input = Array::from(random.floats(dims, -3, 3));
  const Array reference = run(model, input, false, 1), fast = run(model, input, true, 2);
  ASSERT_EQ(fast.dims(), reference.dims());
  for (std::int64_t i = 0; i < fast.size(); ++i) {
    const float expected = reference.data<float>()[static_cast<std::size_t>(i)];
    ASSERT_NEAR(fast.data<float>()[static_cast<std::size_t>(i)], expected, 1e-5f * std::max(1.0f, std::abs(expected)));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomChain, testing::Range(0u, 200u));

TEST(Elementwise, AnOperandThatRepeatsBeginsAnewInEveryPart) {
  // More elements than one part has, and a length that does not divide the parts.
  Random random(5);
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{1, 60, 60, 24}));
  GraphBuilder g(*model.graph);
  Value* bias = g.constant(random.floats({24}));
  Value* sum = g.add(x, bias);
  model.graph->add_output(g.op("Relu", {sum}));
  expect_same(model, Array::from(random.floats({1, 60, 60, 24})), 0);
}

TEST(Elementwise, BitsDoNotDependOnTheNumberOfThreads) {
  Random random(6);
  Model model = empty_model();
  constexpr std::int64_t kSize = 200003;  // several parts, none of whole tiles or vectors
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{kSize}));
  GraphBuilder g(*model.graph);
  Value* gate = g.op("Sigmoid", {g.mul(x, 1.5)});
  Value* y = g.op("Tanh", {g.mul(gate, x)});
  model.graph->add_output(g.sub(g.mul(y, y), x));
  const Array input = Array::from(random.floats({kSize}, -4, 4));
  const Array one = run(model, input, true, 1);
  for (const int threads : {2, 3})
    EXPECT_TRUE(std::ranges::equal(run(model, input, true, threads).data<float>(), one.data<float>()));
}

}  // namespace
}  // namespace ingot::engine
