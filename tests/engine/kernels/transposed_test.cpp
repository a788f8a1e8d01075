// Transposed convolutions of constant weights, DepthToSpace and SpaceToDepth, fast and by the reference kernel.
#include <gtest/gtest.h>

#include <algorithm>

#include "ingot/engine/rewrites/lower_transposed.h"
#include "ingot/passes/infer.h"
#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

/// Along one axis.
struct Geometry {
  std::int64_t kernel, stride, begin, end, extra;
};

/// A transposed convolution behind a convolution, and what often follows it.
Model transposed(Random& random, const std::vector<Geometry>& axes, std::int64_t groups, Dims& input) {
  const std::int64_t in = groups * (1 + random.below(20)), out = 1 + random.below(random.below(2) ? 4 : 40);
  input = {1 + random.below(2), in};
  Dims kernel = {in, out}, strides, pads, ends, extra;
  for (const Geometry& axis : axes) {
    input.push_back(1 + random.below(14));
    kernel.push_back(axis.kernel);
    strides.push_back(axis.stride);
    pads.push_back(axis.begin);
    ends.push_back(axis.end);
    extra.push_back(axis.extra);
  }
  pads.insert(pads.end(), ends.begin(), ends.end());
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape(input.begin(), input.end())));
  GraphBuilder g(*model.graph);
  Dims ones(input.size(), 1);
  ones[0] = ones[1] = in;
  if (random.below(2)) x = g.op("Conv", {x, g.constant(random.floats(ones, -0.3f, 0.3f))});
  Values inputs = {x, g.constant(random.floats(kernel, -0.3f, 0.3f))};
  if (random.below(2)) inputs.push_back(g.constant(random.floats({groups * out})));
  Value* y = g.op("ConvTranspose", inputs,
                  {{"strides", strides}, {"pads", pads}, {"output_padding", extra}, {"group", groups}});
  if (random.below(2)) y = g.op("Relu", {y});
  if (random.below(2)) {
    ones[0] = 9;
    ones[1] = groups * out;
    y = g.op("Conv", {y, g.constant(random.floats(ones, -0.3f, 0.3f))});
  }
  model.graph->add_output(y);
  return model;
}

std::size_t count(const Graph& graph, std::string_view op) {
  std::size_t found = 0;
  for (const Node& node : graph.nodes()) found += node.op == op ? 1 : 0;
  return found;
}

TEST(Transposed, AgreesForUsualGeometries) {
  constexpr Geometry kUsual[] = {{2, 2, 0, 0, 0}, {4, 2, 1, 1, 0}, {3, 2, 1, 1, 1}, {3, 1, 1, 1, 0},
                                 {4, 1, 0, 0, 0}, {6, 4, 1, 1, 0}, {3, 3, 0, 0, 0}, {5, 2, 2, 2, 1},
                                 {5, 2, 1, 2, 0}, {3, 2, 0, 0, 0}, {4, 2, 0, 1, 0}, {16, 8, 4, 4, 0}};
  std::size_t lowered = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Geometry> axes(1 + seed % 2, kUsual[random.below(12)]);
    if (axes.size() > 1 && random.below(4) == 0) axes[1] = kUsual[random.below(11)];
    Dims dims;
    Model model = transposed(random, axes, random.below(4) == 0 ? 2 : 1, dims);
    const Array x = Array::from(random.floats(dims));
    expect_same(model, x, 2e-5f);
    EXPECT_TRUE(std::ranges::equal(run(model, x, true, 3).data<float>(), run(model, x, true, 1).data<float>()));
    passes::infer(model);
    lower_transposed(*model.graph);
    lowered += count(*model.graph, "ConvTranspose") == 0 ? 1 : 0;
  }
  EXPECT_GE(lowered, 80u);
}

TEST(Transposed, IsLeftWhereSizesAreNoMultiples) {
  Random random(1);
  Dims dims;
  Model model = transposed(random, {{3, 2, 0, 0, 0}, {3, 2, 0, 0, 0}}, 1, dims);
  passes::infer(model);
  lower_transposed(*model.graph);
  EXPECT_EQ(count(*model.graph, "ConvTranspose"), 1u);
}

TEST(Rearranged, MovesBlocksOfAnyType) {
  for (const DType type : {DType::f32, DType::u8, DType::f64}) {
    for (const std::string mode : {"DCR", "CRD", "back"}) {
      Random random(3);
      Model model = empty_model();
      const Dims dims = mode == "back" ? Dims{2, 5, 6, 9} : Dims{2, 18, 5, 7};
      Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape(dims.begin(), dims.end())));
      GraphBuilder g(*model.graph);
      Value* cast = g.op("Cast", {x}, {{"to", type}});
      Value* moved = mode == "back" ? g.op("SpaceToDepth", {cast}, {{"blocksize", std::int64_t{3}}})
                                    : g.op("DepthToSpace", {cast}, {{"blocksize", std::int64_t{3}}, {"mode", mode}});
      model.graph->add_output(g.op("Cast", {moved}, {{"to", DType::f32}}));
      expect_same(model, Array::from(random.floats(dims, 0, 200)), 0);
    }
  }
}

}  // namespace
}  // namespace ingot::engine
