// Convolutions of one to three axes whose results are in blocks, fast and by the reference kernel.
#include "ingot/engine/kernels/direct.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

/// A convolution of random geometry over so many axes, of an input in blocks or as it comes, with what may follow it.
Model random_layer(Random& random, std::size_t axes, Dims& input) {
  const bool is_blocked = random.below(4) != 0;
  const std::int64_t groups = is_blocked && random.below(4) == 0 ? 1 + random.below(3) : 1;
  const std::int64_t in = groups > 1 ? 8 * groups * (1 + random.below(3)) : is_blocked ? 1 + random.below(70) : 3;
  const std::int64_t out = groups > 1 ? 8 * groups * (1 + random.below(5)) : 8 + random.below(90);
  input = {1 + random.below(2), in};
  Dims kernel = {out, in / groups}, strides, dilations, pads, ends;
  for (std::size_t i = 0; i < axes; ++i) {
    kernel.push_back(1 + random.below(4));
    strides.push_back(1 + random.below(3));
    dilations.push_back(1 + random.below(2));
    pads.push_back(random.below(3));
    ends.push_back(random.below(3));
    input.push_back((kernel.back() - 1) * dilations.back() + 1 + random.below(axes == 1 ? 150 : axes == 2 ? 24 : 9));
  }
  if (random.below(3) == 0) {
    std::fill(kernel.begin() + 2, kernel.end(), 1);
    std::ranges::fill(pads, 0);
    ends = pads;
    if (random.below(2)) std::ranges::fill(strides, 1);
  }
  pads.insert(pads.end(), ends.begin(), ends.end());
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape(input.begin(), input.end())));
  GraphBuilder g(*model.graph);
  if (is_blocked) {
    Dims whole(axes + 2, 1);
    whole[0] = whole[1] = in;
    x = g.op("Conv", {x, g.constant(random.floats(whole, -0.2f, 0.2f))});
  }
  Values inputs = {x, g.constant(random.floats(kernel, -0.25f, 0.25f))};
  if (random.below(2)) inputs.push_back(g.constant(random.floats({out})));
  const Attrs geometry = {{"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"group", groups}};
  Value* y = g.op("Conv", inputs, geometry);
  if (random.below(2)) y = g.add(y, g.op("Conv", {x, g.constant(random.floats(kernel, -0.25f, 0.25f))}, geometry));
  if (random.below(2)) y = g.op("Relu", {y});
  if (random.below(3) == 0) y = g.op("HardSwish", {y});
  model.graph->add_output(y);
  return model;
}

TEST(DirectConvolution, AgreesForAnyGeometry) {
  if (!DirectConvolution::has_registers()) GTEST_SKIP() << "this CPU has no registers of sixteen floats";
  for (unsigned seed = 0; seed < 240; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Dims dims;
    const Model model = random_layer(random, 1 + seed % 3, dims);
    const Array x = Array::from(random.floats(dims));
    expect_same(model, x, 2e-5f);
    EXPECT_TRUE(std::ranges::equal(run(model, x, true, 3).data<float>(), run(model, x, true, 1).data<float>()));
  }
}

TEST(DirectConvolution, SumsOverManyInputsInParts) {
  for (const std::int64_t in : {512, 520, 1100}) {
    Random random(static_cast<unsigned>(in));
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{1, in, 5, 7}));
    GraphBuilder g(*model.graph);
    Value* y = g.op("Conv", {x, g.constant(random.floats({40, in, 2, 3}, -0.1f, 0.1f))}, {{"pads", {1, 1, 0, 1}}});
    model.graph->add_output(g.op("Relu", {y}));
    expect_same(model, Array::from(random.floats({1, in, 5, 7})), 2e-5f);
  }
}

/// One convolution of 24 channels in blocks.
void expect_same_numbers(const Dims& input, const Dims& kernel, const Attrs& geometry) {
  Random random(7);
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape(input.begin(), input.end())));
  GraphBuilder g(*model.graph);
  Value* y = g.op("Conv", {x, g.constant(random.floats(kernel, -0.25f, 0.25f))}, geometry);
  model.graph->add_output(g.op("HardSwish", {y}));
  expect_same(model, Array::from(random.floats(input)), 2e-5f);
}

TEST(DirectConvolution, CopiesLongRowsInParts) {
  expect_same_numbers({1, 24, 9001}, {20, 24, 3}, {{"pads", {1, 1}}});
  expect_same_numbers({1, 24, 9001}, {20, 24, 3}, {{"pads", {4, 0}}, {"dilations", {2}}, {"strides", {2}}});
  expect_same_numbers({1, 24, 5, 4003}, {20, 24, 3, 3}, {{"pads", {1, 2, 1, 0}}});
  expect_same_numbers({2, 3, 4, 9000}, {9, 3, 2, 5}, {{"pads", {0, 2, 1, 2}}, {"strides", {1, 2}}});
}

TEST(DirectConvolution, LeavesFarFiltersToTheLibrary) {
  const std::int64_t far = 3000;
  expect_same_numbers({1, 24, 5, 6}, {16, 24, 2, 2}, {{"pads", {far, far, 0, 0}}, {"dilations", {far, far}}});
  expect_same_numbers({1, 24, 5, 6}, {16, 24, 2, 2}, {{"pads", {20, 20, 20, 20}}, {"strides", {9, 30}}});
  expect_same_numbers({1, 24, 40}, {24, 1, 2}, {{"pads", {far, 0}}, {"dilations", {far}}, {"group", std::int64_t{24}}});
}

}  // namespace
}  // namespace ingot::engine
