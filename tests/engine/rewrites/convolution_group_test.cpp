// What stands behind a convolution and becomes a part of it, or runs on blocks beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

std::vector<std::string> operators_of(const Model& model) {
  std::vector<std::string> names;
  for (const auto& kernel : Session(model, {.threads = 1}).kernels()) names.push_back(kernel.op);
  return names;
}

/// Numbers for the channels of an image, as exporters write them.
Tensor per_channel(Random& random, std::int64_t channels, std::int64_t form) {
  const Dims dims[] = {{channels, 1, 1}, {1, channels, 1, 1}, {1}, {}};
  return random.floats(dims[form], 0.5f, 2);
}

TEST(ConvolutionGroup, TakesInBiasesAndScalesOfChannels) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    Random random(seed);
    const std::int64_t channels = seed % 2 ? 16 : 10, groups = seed % 3 == 0 ? 2 : 1;
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{2, 8, 7, 6}));
    GraphBuilder g(*model.graph);
    Value* y = g.op("Conv", {x, g.constant(random.floats({channels, 8 / groups, 3, 3}, -1, 1))}, {{"group", groups}});
    for (const char* op : {"Mul", "Add", "Sub", "Div"}) {
      Value* numbers = g.constant(per_channel(random, channels, random.below(4)));
      const bool is_second = std::string_view(op) != "Div" && random.below(2) == 1;
      y = g.node(op, "", is_second ? Values{numbers, y} : Values{y, numbers}, {}, 1)->output();
    }
    model.graph->add_output(groups == 1 ? g.op("Relu", {y}) : y);
    expect_same(model, Array::from(random.floats({2, 8, 7, 6}, -1, 1)), 1e-5f);
    EXPECT_THAT(operators_of(model), testing::Each(testing::Not(testing::HasSubstr("Elementwise"))))
        << seed << ", groups " << groups;
  }
}

TEST(ConvolutionGroup, SlopesOfChannelsKeepBlocks) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    Random random(seed);
    const std::int64_t channels = seed % 2 ? 16 : 12;
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{1, 8, 9, 9}));
    GraphBuilder g(*model.graph);
    Value* y = g.op("Conv", {x, g.constant(random.floats({channels, 8, 3, 3}, -1, 1))});
    y = g.op("PRelu", {y, g.constant(per_channel(random, channels, seed / 2 % 4))});
    y = g.op("MaxPool", {y}, {{"kernel_shape", {2, 2}}});
    model.graph->add_output(g.op("Conv", {y, g.constant(random.floats({8, channels, 1, 1}, -1, 1))}));
    expect_same(model, Array::from(random.floats({1, 8, 9, 9}, -1, 1)), 1e-5f);
    const auto operators = operators_of(model);
    EXPECT_THAT(operators, testing::Not(testing::Contains("PRelu"))) << seed;
    EXPECT_THAT(operators, testing::Not(testing::Contains("MaxPool"))) << seed;
  }
}

TEST(ConvolutionGroup, PlanesAreResizedInBlocks) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    Random random(seed);
    const std::int64_t channels = seed % 2 ? 16 : 12;
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{2, 8, 5, 6}));
    GraphBuilder g(*model.graph);
    Value* y = g.op("Conv", {x, g.constant(random.floats({channels, 8, 1, 1}, -1, 1))});
    const char* const modes[] = {"nearest", "linear", "cubic"};
    const char* const coordinates[] = {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"};
    const Attrs attrs = {{"mode", modes[seed % 3]}, {"coordinate_transformation_mode", coordinates[seed % 4]}};
    const Tensor scales = Tensor::of<float>({4}, {1, 1, 2, static_cast<float>(random.below(3)) / 2 + 0.5f});
    y = seed % 5 < 3 ? g.op("Resize", {y, nullptr, g.constant(scales)}, attrs)
                     : g.op("Resize", {y, nullptr, nullptr, g.ints({2, channels, 3, 11})}, attrs);
    model.graph->add_output(g.op("Conv", {y, g.constant(random.floats({8, channels, 1, 1}, -1, 1))}));
    expect_same(model, Array::from(random.floats({2, 8, 5, 6}, -1, 1)), 1e-5f);
    EXPECT_EQ(operators_of(model), (std::vector<std::string>{"ingot.engine.Block", "ingot.engine.Conv", "Resize",
                                                             "ingot.engine.Conv", "ingot.engine.Unblock"}))
        << seed;
  }
}

}  // namespace
}  // namespace ingot::engine
