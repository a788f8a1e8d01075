// Plans with fast kernels against reference kernels, on random networks of convolutions.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

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

}  // namespace
}  // namespace ingot::engine
