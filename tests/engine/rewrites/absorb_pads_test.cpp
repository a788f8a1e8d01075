// Padding that convolutions and pools do as they read.
#include <gtest/gtest.h>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

TEST(AbsorbPads, NoPlanOfConvolutionsHasAPad) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const auto amount = [&] { return static_cast<std::int64_t>(random.below(3)); };
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{2, 8, 9, 10}));
    GraphBuilder g(*model.graph);
    const auto padded = [&](Value* v, std::int64_t most) {
      std::vector<std::int64_t> pads(8, 0);
      for (const std::size_t i : {2U, 3U, 6U, 7U}) pads[i] = std::min(most, amount());
      return g.op("Pad", {v, g.ints(pads)});
    };
    Value* y = padded(x, 2);
    y = g.op("Conv", {y, g.constant(random.floats({16, 8, 3, 3}, -1, 1))}, {{"strides", {2, 1}}});
    y = padded(g.op("Relu", {y}), 1);
    y = seed % 2 ? g.op("MaxPool", {y}, {{"kernel_shape", {2, 2}}})
                 : g.op("AveragePool", {y}, {{"kernel_shape", {2, 2}}});
    model.graph->add_output(y);
    expect_same(model, Array::from(random.floats({2, 8, 9, 10}, -1, 1)), 1e-5f);
    for (const auto& kernel : Session(model, {.threads = 1}).kernels()) EXPECT_NE(kernel.op, "Pad") << seed;
  }
}

}  // namespace
}  // namespace ingot::engine
