// Places between pixels, filters of single channels, losses and the best of many, fast and by reference kernels.
#include <gtest/gtest.h>

#include <functional>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

using Make = std::function<Value*(GraphBuilder&, Value*, Random&)>;

/// A model of an operator on a random array; no node that is named like the operator may get a reference kernel.
void expect_fast(unsigned seed, const Dims& dims, float tolerance, std::string_view op, const Make& make) {
  Random random(seed);
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape(dims.begin(), dims.end())));
  GraphBuilder g(*model.graph);
  model.graph->add_output(make(g, x, random));
  SCOPED_TRACE("seed " + std::to_string(seed));
  expect_same(model, Array::from(random.floats(dims, -4, 4)), tolerance);
  for (const KernelChoice& choice : Session(model, {.threads = 1}).kernels())
    EXPECT_FALSE(choice.op == op && choice.kernel == "reference");
}

TEST(Samples, OfAGridAgreeInEveryMode) {
  const char* const modes[] = {"nearest", "linear", "cubic"};
  const char* const paddings[] = {"zeros", "border", "reflection"};
  for (unsigned seed = 0; seed < 72; ++seed) {
    Random random(seed);
    const std::size_t mode = seed % 3, axes = mode == 2 ? 1 + seed / 9 % 2 : 1 + seed / 9 % 3;
    Dims image = {1 + random.below(2), 1 + random.below(5)}, grid = {image[0]};
    for (std::size_t i = 0; i < axes; ++i) {
      image.push_back(1 + random.below(9));
      grid.push_back(1 + random.below(axes == 1 ? 600 : 20));
    }
    grid.push_back(static_cast<std::int64_t>(axes));
    expect_fast(seed, image, 1e-5f, "GridSample", [&](GraphBuilder& g, Value* x, Random& r) {
      Value* places = g.constant(r.floats(grid, -1.6f, 1.6f));
      return g.op("GridSample", {x, places},
                  {{"mode", modes[mode]}, {"padding_mode", paddings[seed / 3 % 3]}, {"align_corners", r.below(2)}});
    });
  }
}

TEST(Samples, OutsideAnImageOfInfinitiesAreZero) {
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{1, 1, 1, 2}));
  GraphBuilder g(*model.graph);
  Value* places = g.constant(Tensor::of<float>({1, 1, 2, 2}, {-9, -9, 0.5f, 0}));
  model.graph->add_output(g.op("GridSample", {x, places}));
  Array image(DType::f32, {1, 1, 1, 2});
  image.mutable_data<float>()[0] = std::numeric_limits<float>::infinity();
  image.mutable_data<float>()[1] = 3;
  const Array y = run(model, image, true, 1);
  EXPECT_EQ(y.data<float>()[0], 0);
  EXPECT_EQ(y.data<float>()[1], 3);
}

TEST(Samples, OfRegionsAgree) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const Dims image = {1 + random.below(3), 1 + random.below(6), 1 + random.below(20), 1 + random.below(20)};
    expect_fast(seed, image, 2e-5f, "RoiAlign", [&](GraphBuilder& g, Value* x, Random& r) {
      const std::int64_t count = 1 + r.below(9);
      std::vector<std::int64_t> batches;
      for (std::int64_t i = 0; i < count; ++i) batches.push_back(r.below(image[0]));
      Value* regions = g.constant(r.floats({count, 4}, -6, 30));
      return g.op("RoiAlign", {x, regions, g.ints(batches)},
                  {{"output_height", 1 + r.below(5)},
                   {"output_width", 1 + r.below(5)},
                   {"sampling_ratio", r.below(4)},
                   {"spatial_scale", 0.7f},
                   {"mode", seed % 2 ? "avg" : "max"},
                   {"coordinate_transformation_mode", r.below(2) ? "half_pixel" : "output_half_pixel"}});
    });
  }
}

TEST(Samples, RegionsOfImmenseSizeEndInTime) {
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{1, 1, 2, 2}));
  GraphBuilder g(*model.graph);
  Value* regions = g.constant(Tensor::of<float>({1, 4}, {0, 0, 3e9f, 1}));
  model.graph->add_output(g.op("RoiAlign", {x, regions, g.ints({0})}));
  Limits limits;
  limits.time = std::chrono::milliseconds(200);
  Budget budget(limits);
  SessionOptions options;
  options.threads = 1;
  options.budget = &budget;
  Session session(model, options);
  EXPECT_THROW(session.run({{"x", Array(DType::f32, {1, 1, 2, 2})}}), Error);
}

/// Filters of single channels along one axis, with what follows them.
TEST(Depthwise, AgreesWithTheReferenceForAnyWindow) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const std::int64_t channels = 2 + random.below(30), kernel = 1 + random.below(33), dilation = 1 + random.below(2);
    const std::int64_t reach = (kernel - 1) * dilation + 1, least = std::max<std::int64_t>(1, reach / 2);
    const Dims dims = {1 + random.below(2), channels, least + random.below(60)};
    std::vector<std::int64_t> pads = {random.below(reach + 3), random.below(reach + 3)};
    pads[0] = std::max(pads[0], reach - dims[2]);  // the window fits
    expect_fast(seed, dims, 2e-5f * static_cast<float>(kernel), "Conv", [&](GraphBuilder& g, Value* x, Random& r) {
      Value* weights = g.constant(r.floats({channels, 1, kernel}));
      Value* bias = r.below(2) ? g.constant(r.floats({channels})) : nullptr;
      Value* y = g.op("Conv", {x, weights, bias},
                      {{"group", channels},
                       {"pads", pads},
                       {"strides", std::vector<std::int64_t>{1 + r.below(3)}},
                       {"dilations", std::vector<std::int64_t>{dilation}}});
      if (seed % 3 == 1) return g.op("Relu", {y});
      return seed % 3 == 2 ? g.op("Sigmoid", {g.add(y, y)}) : y;
    });
  }
}

/// One session runs rows of many lengths, each as the reference kernel does.
TEST(Rows, OfAnyLengthAreFilteredAsByTheReference) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Random random(seed);
    const std::int64_t in = 8 + random.below(40), out = 8 + random.below(60), kernel = 1 + random.below(6);
    const std::int64_t dilation = 1 + random.below(3), reach = (kernel - 1) * dilation + 1;
    const std::vector<std::int64_t> pads = {random.below(reach + 2), random.below(reach + 2)};
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{2, in, Dim::symbol("length")}));
    GraphBuilder g(*model.graph);
    Value* bias = random.below(2) ? g.constant(random.floats({out})) : nullptr;
    Value* y = g.op("Conv", {x, g.constant(random.floats({out, in, kernel})), bias},
                    {{"pads", pads},
                     {"strides", std::vector<std::int64_t>{1 + random.below(3)}},
                     {"dilations", std::vector<std::int64_t>{dilation}}});
    model.graph->add_output(seed % 2 ? g.op("Relu", {y}) : y);
    SCOPED_TRACE("seed " + std::to_string(seed));
    SessionOptions options;
    options.threads = 1 + static_cast<int>(seed % 2);
    const Session fast(model, options);
    options.is_fast = false;
    const Session reference(model, options);
    for (int i = 0; i < 4; ++i) {
      const std::int64_t length = std::max<std::int64_t>(1, reach - pads[0] - pads[1]) + random.below(400);
      const Array input = Array::from(random.floats({2, in, length}));
      const Array a = *fast.run({{"x", input}}).front().value.array();
      const Array b = *reference.run({{"x", input}}).front().value.array();
      ASSERT_EQ(a.dims(), b.dims());
      for (std::size_t k = 0; k < a.data<float>().size(); ++k)
        ASSERT_NEAR(a.data<float>()[k], b.data<float>()[k], 1e-6f * static_cast<float>(in * kernel)) << length;
    }
  }
}

TEST(Losses, OfScoresAgree) {
  for (unsigned seed = 0; seed < 32; ++seed) {
    Random random(seed);
    Dims dims = {1 + random.below(5), 2 + random.below(40)};
    for (unsigned i = 0; i < seed % 3; ++i) dims.push_back(1 + random.below(30));
    Dims each = dims;
    each.erase(each.begin() + 1);
    expect_fast(seed, dims, 2e-4f, "SoftmaxCrossEntropyLoss", [&](GraphBuilder& g, Value* x, Random& r) {
      std::vector<std::int64_t> targets;
      for (std::int64_t i = 0; i < tensor_size(each); ++i) targets.push_back(r.below(dims[1]));
      const char* const reductions[] = {"mean", "sum", "none"};
      Attrs attrs = {{"reduction", reductions[seed % 3]}};
      if (seed % 4 == 1 && targets.back() != targets.front()) attrs.emplace_back("ignore_index", targets.front());
      Value* weights = r.below(2) ? g.constant(r.floats({dims[1]}, 0.5f, 2)) : nullptr;
      Value* chosen = g.constant(Tensor::of<std::int64_t>(each, targets));
      if (seed % 8 == 7) return g.op("SoftmaxCrossEntropyLoss", {x, chosen, weights}, attrs, 2)[1];
      return seed % 2 ? g.op("SoftmaxCrossEntropyLoss", {x, chosen, weights}, attrs, 1)[0]
                      : g.op("NegativeLogLikelihoodLoss", {x, chosen, weights}, attrs);
    });
  }
}

/// Equal numbers, NaN, and few or many to be found, along rows and columns.
TEST(Best, OfMixedNumbersAgree) {
  for (unsigned seed = 0; seed < 48; ++seed) {
    Random random(seed);
    const Dims dims = {1 + random.below(4), 1 + random.below(300), 1 + random.below(40)};
    const auto axis = static_cast<std::int64_t>(seed % 3);
    const std::int64_t k = 1 + random.below(std::min<std::int64_t>(dims[static_cast<std::size_t>(axis)], 50));
    expect_fast(seed, dims, 0, "TopK", [&](GraphBuilder& g, Value* x, Random& r) {
      Value* rough = r.below(2) ? g.op("Round", {x}) : x;
      const Values best = g.op("TopK", {rough, g.ints({k})}, {{"axis", axis}, {"largest", r.below(2)}}, 2);
      return seed % 2 ? best[0] : g.cast(best[1], DType::f32);
    });
  }
}

}  // namespace
}  // namespace ingot::engine
