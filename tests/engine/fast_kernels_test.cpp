// Plans with fast kernels against reference kernels, on random networks.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ingot/engine/session.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/schema.h"

namespace ingot::engine {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : generator_(seed) {}
  std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(generator_); }
  Tensor floats(Dims dims, float low = -1, float high = 1) {
    std::vector<float> values(static_cast<std::size_t>(tensor_size(dims)));
    for (float& value : values) value = std::uniform_real_distribution<float>(low, high)(generator_);
    return Tensor::of<float>(std::move(dims), values);
  }

 private:
  std::mt19937 generator_;
};

Model empty_model() {
  Model model;
  model.ir_version = 10;
  model.opsets.set("", ops::newest_opset(""));
  return model;
}

std::int64_t channels(const Value* v) { return v->type.shape->at(1).value(); }

/// A convolution of random geometry that fits the input, with or without what usually follows it.
Value* convolution(GraphBuilder& g, Random& random, Value* x) {
  constexpr std::int64_t kWidths[] = {3, 8, 16, 24, 32};
  std::int64_t out = kWidths[random.below(5)], groups = 1;
  if (random.below(3) == 0) {
    groups = channels(x);  // depthwise
    out = groups;
  } else if (channels(x) % 16 == 0 && random.below(3) == 0) {
    groups = 2;
    out = 16;
  }
  const std::int64_t kernel = 1 + 2 * random.below(2), dilation = 1 + random.below(2), stride = 1 + random.below(2);
  const std::int64_t pad = kernel / 2 * dilation;
  Values inputs = {x, g.constant(random.floats({out, channels(x) / groups, kernel, kernel}))};
  if (random.below(2)) inputs.push_back(g.constant(random.floats({out})));
  Value* y = g.op("Conv", inputs,
                  {{"group", groups},
                   {"strides", {stride, stride}},
                   {"dilations", {dilation, dilation}},
                   {"pads", {pad, random.below(2), pad, pad}}});
  if (random.below(2)) {
    Value* scale = g.constant(random.floats({out}));
    Value* bias = g.constant(random.floats({out}));
    Value* mean = g.constant(random.floats({out}));
    y = g.op("BatchNormalization", {y, scale, bias, mean, g.constant(random.floats({out}, 0.5f, 2))});
  }
  return y;
}

Value* layer(GraphBuilder& g, Random& random, Value* x) {
  switch (random.below(9)) {
    case 0:
      return g.op("Relu", {x});
    case 1: {
      Value* low = g.scalar(-0.5, DType::f32);
      return g.op("Clip", {x, low, g.scalar(0.75, DType::f32)});
    }
    case 2:
      return g.op("MaxPool", {x}, {{"kernel_shape", {3, 3}}, {"pads", {1, 1, 1, 1}}, {"strides", {1, 1}}});
    case 3:
      return g.op("AveragePool", {x},
                  {{"kernel_shape", {2, 2}}, {"pads", {0, 0, 1, 1}}, {"count_include_pad", random.below(2)}});
    case 4:
      return g.concat({x, g.op("Sigmoid", {x})}, 1);
    case 5:
      return g.mul(x, g.op("Sigmoid", {g.op("GlobalAveragePool", {x})}));
    case 6:
      return g.add(g.op("Tanh", {x}), x);
    case 7: {  // the shortcut of a residual network
      Value* weight = g.constant(random.floats({channels(x), channels(x), 1, 1}));
      return g.op("Relu", {g.add(g.op("Conv", {x, weight}), x)});
    }
    default:
      return convolution(g, random, x);
  }
}

Array run(const Model& model, const Array& x, bool is_fast, int threads) {
  SessionOptions options;
  options.is_fast = is_fast;
  options.threads = threads;
  return *Session(model, options).run({{"x", x}}).front().value.array();
}

class RandomNetwork : public testing::TestWithParam<unsigned> {};

TEST_P(RandomNetwork, GivesTheSameNumbersFast) {
  Random random(GetParam());
  Model model = empty_model();
  constexpr std::int64_t kInputs[] = {3, 8, 16};
  const std::int64_t in = kInputs[random.below(3)], batch = 1 + random.below(2);
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{Dim::symbol("n"), in, 13, 11}));
  GraphBuilder g(*model.graph);
  Value* y = convolution(g, random, x);
  for (std::int64_t i = random.below(8); i-- > 0;) y = layer(g, random, y);
  model.graph->add_output(y);
  const Array input = Array::from(random.floats({batch, in, 13, 11}));
  const Array reference = run(model, input, false, 1), fast = run(model, input, true, 1);
  ASSERT_EQ(fast.dims(), reference.dims());
  const auto expected = reference.data<float>(), got = fast.data<float>();
  float scale = 1e-3f;
  for (const float v : expected) scale = std::max(scale, std::abs(v));
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 2e-5f * scale) << i;
  const Array parallel = run(model, input, true, 3);
  EXPECT_TRUE(std::ranges::equal(parallel.data<float>(), got)) << "the bits depend on the number of threads";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomNetwork, testing::Range(0u, 200u));

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

/// One node with a fast kernel, both ways.
void expect_same(const Model& model, const Array& x, float tolerance) {
  const Array reference = run(model, x, false, 1);
  for (const int threads : {1, 2}) {
    const Array fast = run(model, x, true, threads);
    ASSERT_EQ(fast.dims(), reference.dims());
    for (std::size_t i = 0; i < static_cast<std::size_t>(fast.size()); ++i)
      ASSERT_NEAR(fast.data<float>()[i], reference.data<float>()[i], tolerance) << i;
  }
}

TEST(FastKernel, AnOperandThatRepeatsBeginsAnewInEveryPart) {
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

TEST(FastKernel, LstmAgreesInEveryDirection) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    Random random(7);
    Model model = empty_model();
    const std::int64_t count = std::string_view(direction) == "bidirectional" ? 2 : 1, hidden = 19, inputs = 5;
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{6, 3, inputs}));
    GraphBuilder g(*model.graph);
    Value* w = g.constant(random.floats({count, 4 * hidden, inputs}));
    Value* r = g.constant(random.floats({count, 4 * hidden, hidden}));
    Value* b = g.constant(random.floats({count, 8 * hidden}));
    Value* h = g.constant(random.floats({count, 3, hidden}));
    Value* c = g.constant(random.floats({count, 3, hidden}));
    const Values y = g.op("LSTM", {x, w, r, b, nullptr, h, c}, {{"hidden_size", hidden}, {"direction", direction}}, 3);
    Value* all = g.concat({g.reshape(y[0], {-1}), g.reshape(y[1], {-1}), g.reshape(y[2], {-1})}, 0);
    model.graph->add_output(all);
    expect_same(model, Array::from(random.floats({6, 3, inputs})), 1e-5f);
  }
}

TEST(FastKernel, SoftmaxAndNormalisationAgreeForAnyLengthOfRows) {
  for (const std::int64_t n : {1, 3, 8, 17, 100}) {
    Random random(static_cast<unsigned>(n));
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{4, n}));
    GraphBuilder g(*model.graph);
    Value* softmax = g.op("Softmax", {x}, {{"axis", 1}});
    Value* scale = g.constant(random.floats({n}));
    Value* normal = g.op("LayerNormalization", {x, scale, g.constant(random.floats({n}))}, {{"axis", -1}});
    model.graph->add_output(g.concat({softmax, normal}, 0));
    expect_same(model, Array::from(random.floats({4, n}, -5, 5)), 2e-5f);
  }
}

TEST(FastKernel, TransposeMovesEveryElement) {
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    Model model = empty_model();
    std::vector<std::int64_t> perm = {0, 1, 2, 3};
    for (std::size_t k = 4; k-- > 1;)
      std::swap(perm[k], perm[static_cast<std::size_t>(random.below(std::ssize(perm)))]);
    const Dims dims = {1 + random.below(4), 1 + random.below(20), 1 + random.below(4), 1 + random.below(40)};
    model.graph->add_input("x", Type::tensor(DType::f32, Shape(dims.begin(), dims.end())));
    GraphBuilder g(*model.graph);
    model.graph->add_output(g.transpose(model.graph->inputs()[0], perm));
    expect_same(model, Array::from(random.floats(dims)), 0);
  }
}

}  // namespace
}  // namespace ingot::engine
