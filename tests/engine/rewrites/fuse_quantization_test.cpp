// Numbers that become integers and numbers again.
#include <gtest/gtest.h>

#include <limits>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

TEST(Quantization, ThereAndBackIsOneRounding) {
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

TEST(Quantization, IntegersThatAreReadStay) {
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

}  // namespace
}  // namespace ingot::engine
