// Forests, fast and by the reference kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/ops/ml/forest.h"
#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

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

TEST(Trees, AgreeForAnyNumberOfRows) {
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

/// Trees whose thresholds and weights no float holds; a vote for each target in each leaf.
ops::Forest forest_of_doubles(Random& random, std::int64_t features, std::int64_t targets, bool is_full,
                              std::size_t branches = 15, int trees = 11) {
  ops::Forest forest;
  forest.elem = DType::f64;
  const bool is_mixed = random.below(2) != 0;
  for (int tree = 0; tree < trees; ++tree) {
    forest.roots.push_back(forest.items.size());
    std::vector<std::size_t> open = {forest.items.size()};
    forest.items.emplace_back();
    for (std::size_t i = 0; i < open.size(); ++i) {
      const bool is_leaf = is_full ? i >= branches : i > 40 || (i > 0 && random.below(4) == 0);
      ops::Forest::Item item;
      item.is_leaf = is_leaf;
      if (is_leaf) {
        for (std::int64_t t = 0; t < targets; ++t)
          item.votes.push_back({t, static_cast<double>(random.below(1000)) / 3000.0});
      } else {
        item.mode = static_cast<std::uint8_t>(is_mixed ? random.below(4) : 0);
        item.missing_goes_true = is_mixed && random.below(2) != 0;
        item.feature = random.below(features);
        item.split = static_cast<double>(random.below(20)) / 30.0 - 0.3;
        item.yes = forest.items.size();
        item.no = item.yes + 1;
        open.insert(open.end(), {item.yes, item.no});
        forest.items.resize(forest.items.size() + 2);
      }
      forest.items[open[i]] = item;
    }
  }
  return forest;
}

TEST(Trees, OfDoublesGiveTheSameBits) {
  for (unsigned seed = 0; seed < 24; ++seed)
    for (const std::int64_t rows : {1, 7, 8, 300}) {
      Random random(seed);
      Model model = empty_model();
      model.opsets.set("ai.onnx.ml", 5);
      const std::int64_t features = 1 + random.below(9), targets = 1 + random.below(3);
      Value* x = model.graph->add_input("x", Type::tensor(DType::f64, Shape{rows, features}));
      const ops::Forest forest = forest_of_doubles(random, features, targets, seed % 2 == 0);
      Attrs attrs = ops::ensemble_attributes(forest, DType::f64);
      attrs.push_back({"n_targets", targets});
      attrs.push_back({"aggregate_function", random.below(2)});
      GraphBuilder g(*model.graph);
      if (seed % 4 > 1) x = g.cast(g.cast(x, DType::f32), DType::f64);  // as scikit-learn's trees see their rows
      model.graph->add_output(g.op("TreeEnsemble", {x}, attrs));
      std::vector<double> input;
      for (const float v : random.floats({rows, features}).to_vector<float>()) input.push_back(v);
      for (std::size_t i = 0; i < input.size(); i += 3)  // on a threshold, and next to one
        input[i] = std::nextafter(static_cast<double>(random.below(20)) / 30.0 - 0.3, static_cast<double>(i % 2));
      if (seed % 3 == 0) input[input.size() / 2] = std::numeric_limits<double>::quiet_NaN();
      const Array array = Array::from(Tensor::of<double>({rows, features}, input));
      const Array reference = run(model, array, false, 1);
      for (const int threads : {1, 2}) {
        const Array fast = run(model, array, true, threads);
        ASSERT_TRUE(std::ranges::equal(fast.data<double>(), reference.data<double>())) << seed << ", " << rows;
      }
      const auto kernels = Session(model, {.threads = 1}).kernels();
      EXPECT_TRUE(std::ranges::any_of(kernels, [](const KernelChoice& c) { return c.kernel == "trees"; }));
    }
}

TEST(Trees, OfMoreNodesThanSmallOnesCountGiveTheSameBits) {
  for (const std::size_t branches : {32'766u, 32'767u, 40'000u}) {  // twice as many nodes and one, and one before them
    Random random(7);
    Model model = empty_model();
    model.opsets.set("ai.onnx.ml", 5);
    constexpr std::int64_t kRows = 300, kFeatures = 9;
    Value* x = model.graph->add_input("x", Type::tensor(DType::f64, Shape{kRows, kFeatures}));
    Attrs attrs = ops::ensemble_attributes(forest_of_doubles(random, kFeatures, 2, true, branches, 2), DType::f64);
    attrs.push_back({"n_targets", 2});
    attrs.push_back({"aggregate_function", 1});
    GraphBuilder g(*model.graph);
    model.graph->add_output(g.op("TreeEnsemble", {g.cast(g.cast(x, DType::f32), DType::f64)}, attrs));
    std::vector<double> input;
    for (const float v : random.floats({kRows, kFeatures}).to_vector<float>()) input.push_back(v);
    const Array array = Array::from(Tensor::of<double>({kRows, kFeatures}, input));
    const Array fast = run(model, array, true, 1), reference = run(model, array, false, 1);
    EXPECT_TRUE(std::ranges::equal(fast.data<double>(), reference.data<double>())) << branches;
  }
}

/// Many trees over few columns compare ranks: as deep as they like, on thresholds, beside them and without numbers.
TEST(Trees, OfWhichThereAreManyGiveTheSameBits) {
  for (unsigned seed = 0; seed < 12; ++seed)
    for (const std::int64_t rows : {1, 7, 9, 16, 17, 140, 1300}) {
      Random random(100 + seed);
      Model model = empty_model();
      model.opsets.set("ai.onnx.ml", 5);
      const std::int64_t features = 1 + random.below(4), targets = 1 + random.below(3);
      ops::Forest forest = forest_of_doubles(random, features, targets, seed % 2 == 0, 120, 40);
      for (std::size_t i = 0; i < forest.items.size(); i += 50)  // what nothing is below, and what all is
        if (!forest.items[i].is_leaf)
          forest.items[i].split = (i % 100 ? 1 : -1) * std::numeric_limits<double>::infinity();
      Attrs attrs = ops::ensemble_attributes(forest, DType::f64);
      attrs.push_back({"n_targets", targets});
      attrs.push_back({"aggregate_function", random.below(2)});
      Value* x = model.graph->add_input("x", Type::tensor(DType::f64, Shape{rows, features}));
      GraphBuilder g(*model.graph);
      if (seed % 4 > 1) x = g.cast(g.cast(x, DType::f32), DType::f64);
      model.graph->add_output(g.op("TreeEnsemble", {x}, attrs));
      std::vector<double> input(static_cast<std::size_t>(rows * features));
      for (std::size_t i = 0; i < input.size(); ++i) {
        input[i] = static_cast<double>(random.below(22) - 1) / 30.0 - 0.3;
        if (i % 3 != 0) input[i] = std::nextafter(input[i], static_cast<double>(i % 3) - 1.5);
        if (i % 31 == 5) input[i] = std::numeric_limits<double>::quiet_NaN();
        if (i % 37 == 5) input[i] = (i % 2 ? 1 : -1) * std::numeric_limits<double>::infinity();
      }
      const Array array = Array::from(Tensor::of<double>({rows, features}, input));
      const Array reference = run(model, array, false, 1);
      for (const int threads : {1, 2}) {
        const Array fast = run(model, array, true, threads);
        ASSERT_TRUE(std::ranges::equal(fast.data<double>(), reference.data<double>())) << seed << ", " << rows;
      }
    }
}

}  // namespace
}  // namespace ingot::engine
