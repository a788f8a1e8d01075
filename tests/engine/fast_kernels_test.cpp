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
  constexpr std::int64_t kWidths[] = {1, 3, 5, 8, 12, 16, 24, 32};
  std::int64_t out = kWidths[random.below(8)], groups = 1;
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
  switch (random.below(16)) {
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
    case 8:
      return g.op("LeakyRelu", {x}, {{"alpha", 0.2f}});
    case 9:
      return g.op("HardSwish", {x});
    case 10:
      return g.mul(x, g.op("Sigmoid", {x}));
    case 11: {  // exporters write numbers with as many axes as their operands have
      Value* limit = g.constant(random.floats({1, 1, 1, 1}));
      return random.below(2) ? g.op("Max", {x, limit}) : g.op("Min", {x, limit});
    }
    case 12: {
      Value* mean = g.op("ReduceMean", {x, g.ints({-1, 2})});
      return g.mul(x, g.op("HardSigmoid", {mean}));
    }
    case 13: {
      Value* row = g.constant(random.floats({1, channels(x), 1, 1}, 0.5f, 2));
      return random.below(2) ? g.add(x, row) : g.div(x, row);
    }
    case 14:
      return g.op("Softplus", {x});
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
  constexpr std::int64_t kInputs[] = {3, 8, 11, 16};
  const std::int64_t in = kInputs[random.below(4)], batch = 1 + random.below(2);
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

INSTANTIATE_TEST_SUITE_P(Seeds, RandomNetwork, testing::Range(0u, 300u));

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

class Lstm : public testing::TestWithParam<std::int64_t> {};  // with so many units

TEST_P(Lstm, AgreesInEveryDirection) {
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

// Fewer than a vector, not whole panels, one part, several parts of which the last is shorter.
INSTANTIATE_TEST_SUITE_P(Units, Lstm, testing::Values(3, 19, 64, 144, 208));

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

TEST(FastKernel, NormalisationThatWasWrittenOutIsOneNode) {
  for (unsigned seed = 0; seed < 16; ++seed) {
    Random random(seed);
    const std::int64_t n = 1 + random.below(40);
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{2, 3, n}));
    GraphBuilder g(*model.graph);
    Value* axes = g.ints({random.below(2) ? -1 : 2});
    Value* centred = g.sub(x, g.op("ReduceMean", {x, axes}));
    Value* square = random.below(2) ? g.mul(centred, centred) : g.op("Pow", {centred, g.scalar(2, DType::f32)});
    Value* variance = g.op("ReduceMean", {square, axes});
    Value* epsilon = g.scalar(1e-5, DType::f32);
    Value* sum = random.below(2) ? g.add(variance, epsilon) : g.add(epsilon, variance);
    Value* quotient = g.div(centred, g.op("Sqrt", {sum}));
    const Dims row = random.below(2) ? Dims{n} : Dims{1, 1, n};
    Value* y = g.mul(quotient, g.constant(random.floats(row)));
    if (random.below(3)) y = g.add(g.constant(random.floats(row)), y);
    model.graph->add_output(y);
    expect_same(model, Array::from(random.floats({2, 3, n}, -4, 4)), 2e-5f);
    const auto kernels = Session(model, {.threads = 1}).kernels();
    ASSERT_EQ(kernels.size(), 1u) << seed;
    EXPECT_EQ(kernels[0].op, "LayerNormalization");
  }
}

TEST(FastKernel, ProductTakesInWhatFollowsIt) {
  constexpr ops::Name kFunctions[] = {"Relu", "Gelu", "Sigmoid", "Tanh", "HardSwish"};
  for (unsigned seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Model model = empty_model();
    const std::int64_t rows = 1 + random.below(100), depth = 1 + random.below(600), columns = 1 + random.below(200);
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{rows, depth}));
    GraphBuilder g(*model.graph);
    Value* y = nullptr;
    if (random.below(2)) {
      Value* weight = g.constant(random.floats({columns, depth}));
      y = g.op("Gemm", {x, weight, g.constant(random.floats({columns}))}, {{"transB", 1}});
    } else {
      y = g.op("MatMul", {x, g.constant(random.floats({depth, columns}))});
      if (random.below(2)) y = g.add(y, g.constant(random.floats({columns})));
    }
    if (depth == columns || random.below(2)) {
      Value* other = g.op("MatMul", {x, g.constant(random.floats({depth, columns}))});
      y = g.add(y, other);
    }
    y = g.op(kFunctions[random.below(5)], {y});
    model.graph->add_output(y);
    expect_same(model, Array::from(random.floats({rows, depth})), 2e-4f);
  }
}

/// softmax(q * k' * scale + mask) * v over heads, as exporters write it.
Value* attention(GraphBuilder& g, Random& random, Value* x, const Dims& dims, std::int64_t count) {
  const std::int64_t batch = dims[0], time = dims[1], size = dims[2] / count;
  const auto project = [&] { return g.op("MatMul", {x, g.constant(random.floats({dims[2], dims[2]}))}); };
  // Heads first, by a Transpose that the kernel can take in or by what it must leave alone.
  const auto heads = [&](std::vector<std::int64_t> perm) {
    if (random.below(2)) return g.transpose(g.reshape(project(), {batch, time, count, size}), std::move(perm));
    Value* split = g.transpose(g.reshape(project(), {batch, time, 1, count, size}), {2, 0, 3, 1, 4});
    Value* first = g.squeeze(split, {0});
    return perm == std::vector<std::int64_t>{0, 2, 1, 3} ? first : g.transpose(first, {0, 1, 3, 2});
  };
  Value* q = heads({0, 2, 1, 3});
  Value* k = heads({0, 2, 3, 1});
  Value* v = heads({0, 2, 1, 3});
  Value* scores = g.op("MatMul", {q, k});
  if (random.below(3)) scores = random.below(2) ? g.div(scores, 4.0) : g.mul(scores, 0.3);
  constexpr int kMasks = 4;
  const std::int64_t mask = random.below(kMasks);
  if (mask == 1) scores = g.add(scores, g.constant(random.floats({batch, 1, 1, time}, -3, 0)));
  if (mask == 2) scores = g.add(scores, g.constant(random.floats({time, time}, -3, 0)));
  if (mask == 3) scores = g.add(g.constant(random.floats({1, count, time, 1}, -3, 0)), scores);
  Value* mixed = g.op("MatMul", {g.op("Softmax", {scores}, {{"axis", random.below(2) ? -1 : 3}}), v});
  if (random.below(2)) return g.reshape(g.transpose(mixed, {0, 2, 1, 3}), dims);
  return g.op("Relu", {mixed});
}

TEST(FastKernel, AttentionAgreesWithAnyMask) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Random random(seed);
    const std::int64_t count = 1 + random.below(4);
    // Some with more rows than are done at a time.
    const Dims dims = {1 + random.below(3), 1 + random.below(seed % 3 ? 40 : 250), count * (1 + random.below(20))};
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape(dims.begin(), dims.end())));
    GraphBuilder g(*model.graph);
    model.graph->add_output(attention(g, random, x, dims, count));
    expect_same(model, Array::from(random.floats(dims)), 2e-4f);
    const auto kernels = Session(model, {.threads = 1}).kernels();
    EXPECT_TRUE(std::ranges::any_of(kernels, [](const KernelChoice& c) { return c.kernel == "heads"; })) << seed;
  }
}

TEST(FastKernel, WinogradAgreesWithinItsRounding) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const std::int64_t in = 32 + 8 * random.below(8), out = 32 + 8 * random.below(12), batch = 1 + random.below(2);
    const std::int64_t height = 12 + random.below(50), width = 12 + random.below(50);
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{batch, in, height, width}));
    GraphBuilder g(*model.graph);
    Value* before = g.op("Conv", {x, g.constant(random.floats({in, in, 1, 1}, -0.2f, 0.2f))});
    Value* other = g.op("Conv", {before, g.constant(random.floats({out, in, 1, 1}))});
    Value* weight = g.constant(random.floats({out, in, 3, 3}));
    Values inputs = {before, weight};
    if (random.below(2)) inputs.push_back(g.constant(random.floats({out})));
    Value* y = g.op("Conv", inputs, {{"pads", {1, 1, 1, 1}}});
    if (random.below(2)) y = g.add(y, other);
    if (random.below(2)) y = g.op("Relu", {y});
    model.graph->add_output(y);
    const Array input = Array::from(random.floats({batch, in, height, width}));
    const Array reference = run(model, input, false, 1), fast = run(model, input, true, 1);
    ASSERT_EQ(fast.dims(), reference.dims());
    float scale = 0;
    for (const float v : reference.data<float>()) scale = std::max(scale, std::abs(v));
    for (std::size_t i = 0; i < static_cast<std::size_t>(fast.size()); ++i)
      ASSERT_NEAR(fast.data<float>()[i], reference.data<float>()[i], 2e-5f * scale) << i << " of seed " << seed;
    EXPECT_TRUE(std::ranges::equal(run(model, input, true, 3).data<float>(), fast.data<float>()));
  }
}

/// Trees of random shape, or nearly full ones, in arrays as converters write them.
Value* forest(GraphBuilder& g, Random& random, Value* x, std::int64_t features, std::int64_t targets, bool is_full) {
  std::vector<std::int64_t> trees, nodes, places, yes, no, target_trees, target_nodes, target_ids;
  std::vector<float> values, weights;
  std::vector<std::string> modes;
  const std::string mode = random.below(2) ? "BRANCH_LEQ" : "BRANCH_LT";
  for (std::int64_t tree = 0; tree < 13; ++tree) {
    std::int64_t count = 1;
    for (std::int64_t node = 0; node < count; ++node) {
      const bool is_leaf =
          is_full ? node >= 15 || (node > 6 && random.below(4) == 0) : count > 60 || (node > 0 && random.below(4) == 0);
      trees.push_back(tree);
      nodes.push_back(node);
      places.push_back(is_leaf ? 0 : random.below(features));
      values.push_back(is_leaf ? 0 : static_cast<float>(random.below(20)) / 10.0f - 1);
      modes.push_back(is_leaf ? "LEAF" : mode);
      yes.push_back(is_leaf ? 0 : count);
      no.push_back(is_leaf ? 0 : count + 1);
      if (!is_leaf) {
        count += 2;
        continue;
      }
      target_trees.push_back(tree);
      target_nodes.push_back(node);
      target_ids.push_back(random.below(targets));
      weights.push_back(static_cast<float>(random.below(1000)) / 1000.0f);
    }
  }
  Node* node = g.node("TreeEnsembleRegressor", "ai.onnx.ml", {x},
                      {{"n_targets", targets},
                       {"aggregate_function", random.below(2) ? "SUM" : "AVERAGE"},
                       {"nodes_treeids", trees},
                       {"nodes_nodeids", nodes},
                       {"nodes_featureids", places},
                       {"nodes_values", values},
                       {"nodes_truenodeids", yes},
                       {"nodes_falsenodeids", no},
                       {"nodes_modes", modes},
                       {"target_treeids", target_trees},
                       {"target_nodeids", target_nodes},
                       {"target_ids", target_ids},
                       {"target_weights", weights}},
                      1);
  return node->output(0);
}

TEST(FastKernel, TreesAgreeForAnyNumberOfRows) {
  for (unsigned seed = 0; seed < 24; ++seed)
    for (const std::int64_t rows : {1, 7, 8, 300}) {
      Random random(seed);
      Model model = empty_model();
      model.opsets.set("ai.onnx.ml", 3);
      const std::int64_t features = 1 + random.below(9);
      Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{rows, features}));
      GraphBuilder g(*model.graph);
      model.graph->add_output(forest(g, random, x, features, 1 + random.below(3), seed % 2 == 0));
      std::vector<float> input = random.floats({rows, features}).to_vector<float>();
      if (seed % 3 == 0) input[input.size() / 2] = std::numeric_limits<float>::quiet_NaN();
      expect_same(model, Array::from(Tensor::of<float>({rows, features}, input)), 1e-5f);
      const auto kernels = Session(model, {.threads = 1}).kernels();
      EXPECT_TRUE(std::ranges::any_of(kernels, [](const KernelChoice& c) { return c.kernel == "trees"; }));
    }
}

TEST(FastKernel, WhatIsQuantisedAndDequantisedStaysInPlace) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    Random random(seed);
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{3, 5, 70}));
    GraphBuilder g(*model.graph);
    const auto through = [&](Value* v) {
      Value* scale = g.constant(random.floats({}, 0.01f, 0.1f));
      Value* zero = nullptr;
      const auto number = random.below(200);
      if (seed % 4 == 0) zero = g.constant(Tensor::scalar(static_cast<std::uint8_t>(number)));
      if (seed % 4 == 1) zero = g.constant(Tensor::scalar(static_cast<std::int8_t>(number - 100)));
      if (seed % 4 == 2) zero = g.constant(Tensor::scalar(static_cast<std::uint16_t>(number * 300)));
      if (seed % 4 == 3) zero = g.constant(Tensor::scalar(static_cast<std::int16_t>(number * 300 - 30000)));
      Value* integers = g.op("QuantizeLinear", {v, scale, zero});
      return g.op("DequantizeLinear", {integers, scale, zero});
    };
    model.graph->add_output(through(g.op("Relu", {through(x)})));
    std::vector<float> input = random.floats({3, 5, 70}, -20, 20).to_vector<float>();
    input[1] = std::numeric_limits<float>::quiet_NaN();
    input[2] = std::numeric_limits<float>::infinity();
    input[3] = -input[2];
    expect_same(model, Array::from(Tensor::of<float>({3, 5, 70}, input)), 0);
    const auto kernels = Session(model, {.threads = 1}).kernels();
    ASSERT_EQ(kernels.size(), 1u) << seed;
    EXPECT_EQ(kernels[0].kernel, "tiles");
  }
}

TEST(FastKernel, QuantisedIntegersThatAreReadStay) {
  Random random(1);
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{64}));
  GraphBuilder g(*model.graph);
  Value* scale = g.scalar(0.1, DType::f32);
  Value* other = g.scalar(0.2, DType::f32);
  Value* zero = g.constant(Tensor::scalar(std::uint16_t{30000}));
  Value* integers = g.op("QuantizeLinear", {x, scale, zero});
  model.graph->add_output(g.op("DequantizeLinear", {integers, other, zero}));
  expect_same(model, Array::from(random.floats({64}, -20, 20)), 0);
}

TEST(FastKernel, ConcatJoinsPartsOfAnySizeAlongAnyAxis) {
  for (const std::int64_t axis : {0, 1, 2, -1})
    for (const DType type : {DType::f32, DType::i64, DType::u8}) {
      Random random(6);
      Model model = empty_model();
      const Dims dims = {3, 40, 50};
      Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape(dims.begin(), dims.end())));
      GraphBuilder g(*model.graph);
      Value* whole = g.op("Cast", {g.op("Abs", {x})}, {{"to", type}});
      Values parts = {whole};
      for (const std::int64_t size : {0, 1, 2}) {
        Value* axes = g.ints({axis});
        Value* start = g.ints({0});
        parts.push_back(g.op("Slice", {whole, start, g.ints({size}), axes}));
      }
      parts.push_back(whole);
      model.graph->add_output(g.op("Cast", {g.concat(parts, axis)}, {{"to", DType::f32}}));
      expect_same(model, Array::from(random.floats(dims, 0, 200)), 0);
    }
}

TEST(FastKernel, GatherTakesSlicesOfAConstant) {
  for (const std::int64_t axis : {0, 1, -1}) {
    Random random(5);
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{1}));
    GraphBuilder g(*model.graph);
    Value* table = g.constant(random.floats({7, 9, 11}));
    Value* picked =
        g.op("Gather", {table, g.constant(Tensor::of<std::int64_t>({2, 3}, {0, -1, 4, -7, 6, 1}))}, {{"axis", axis}});
    Value* by_input = g.op("Cast", {x}, {{"to", DType::i64}});
    Value* other = g.op("Gather", {table, by_input}, {{"axis", axis}});
    model.graph->add_output(g.concat({g.reshape(picked, {-1}), g.reshape(other, {-1})}, 0));
    expect_same(model, Array::of<float>({1}, {-2}), 0);
    EXPECT_ANY_THROW(run(model, Array::of<float>({1}, {100}), true, 1));
  }
}

TEST(FastKernel, TransposeMovesEveryElementOfLargePlanes) {
  Random random(4);
  for (const Dims& dims : {Dims{3, 130, 70}, Dims{1, 257, 65}, Dims{2, 64, 4}, Dims{5, 3, 200}})
    for (const DType type : {DType::f32, DType::f64, DType::u8, DType::f16}) {
      Model model = empty_model();
      Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape(dims.begin(), dims.end())));
      GraphBuilder g(*model.graph);
      Value* moved = g.transpose(g.op("Cast", {x}, {{"to", type}}), {0, 2, 1});
      model.graph->add_output(g.op("Cast", {moved}, {{"to", DType::f32}}));
      expect_same(model, Array::from(random.floats(dims, 0, 200)), 0);
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
