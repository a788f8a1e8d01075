// Convolutions of doubles, fast and by the reference kernel.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

Tensor doubles(Random& random, const Dims& dims) {
  std::vector<double> values;
  for (const float value : random.floats(dims).to_vector<float>()) values.push_back(double{value} / 3);
  return Tensor::of<double>(dims, values);
}

TEST(DoubleConvolution, AgreesForAnyGeometry) {
  for (unsigned seed = 0; seed < 90; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::size_t axes = 1 + seed % 3;
    const std::int64_t group = 1 + random.below(3), depth = 1 + random.below(4);
    Dims input = {1 + random.below(2), group * depth}, kernel = {group * (1 + random.below(5)), depth};
    Dims strides, dilations, pads;
    for (std::size_t i = 0; i < axes; ++i) {
      kernel.push_back(1 + random.below(4));
      strides.push_back(1 + random.below(3));
      dilations.push_back(1 + random.below(2));
      input.push_back((kernel.back() - 1) * dilations.back() + 1 + random.below(axes == 1 ? 2000 : 12));
    }
    for (std::size_t i = 0; i < 2 * axes; ++i) pads.push_back(random.below(3));
    Model model = empty_model();
    const Array x = Array::from(doubles(random, input));
    GraphBuilder g(*model.graph);
    Values inputs = {model.graph->add_input("x", x.type()), g.constant(doubles(random, kernel))};
    if (random.below(2)) inputs.push_back(g.constant(doubles(random, {kernel[0]})));
    model.graph->add_output(
        g.op("Conv", inputs, {{"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"group", group}}));
    const Array reference = run(model, x, false, 1), one = run(model, x, true, 1), two = run(model, x, true, 2);
    ASSERT_EQ(one.dims(), reference.dims());
    EXPECT_TRUE(std::ranges::equal(one.data<double>(), two.data<double>()));
    for (std::size_t i = 0; i < static_cast<std::size_t>(one.size()); ++i)
      ASSERT_NEAR(one.data<double>()[i], reference.data<double>()[i], 1e-12) << i;
    for (const KernelChoice& choice : Session(model, {.threads = 1}).kernels()) EXPECT_EQ(choice.kernel, "double gemm");
  }
}

}  // namespace
}  // namespace ingot::engine
