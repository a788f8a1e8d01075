// Models of very many nodes become trainable in time that grows as they do.
#include <gtest/gtest.h>

#include <ctime>

#include "ingot/ops/builder.h"
#include "ingot/train/training_graph.h"

namespace ingot {
namespace {

/// x * w, then so many copies.
Model chain(int nodes) {
  Model model;
  model.ir_version = 10;
  model.opsets.set("", 21);
  model.graph->name = "chain";
  GraphBuilder g(*model.graph);
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{4}));
  Value* y = g.mul(x, model.graph->add_initializer("w", Tensor::of<float>({4}, {1, 2, 3, 4})));
  for (int i = 0; i < nodes; ++i) y = g.op("Identity", {y});
  y->is_declared = true;
  model.graph->add_output(y);
  return model;
}

/// The least processor time of a few tries.
double seconds(const Model& model) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    train::TrainingOptions options;
    options.loss.name = "mse";
    EXPECT_EQ(train::make_training_graph(model, options).parameter_count, 1u);
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

TEST(TrainScale, MakingTrainableIsLinearInTheNodes) {
  // Both beyond the caches, where a node costs the same.
  const double small = seconds(chain(20'000)), large = seconds(chain(80'000));
  std::printf("20,000 nodes: %.3f s, 80,000 nodes: %.3f s\n", small, large);
  EXPECT_LT(large, 8 * small);  // four times as many nodes
}

}  // namespace
}  // namespace ingot
