// The training loop: data from files, checkpoints, the way back into the model.
#include <gtest/gtest.h>

#include <filesystem>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/train/trainer.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

/// y = x W + b for two classes of two numbers.
Model line_model() {
  Model model;
  model.ir_version = 10;
  model.opsets.set("", 21);
  Graph& graph = *model.graph;
  Value* x = graph.add_input("x", Type::tensor(DType::f32, Shape{Dim::symbol("N"), 2}));
  Value* w = graph.add_initializer("w", Tensor::of<float>({2, 2}, {0.1f, -0.2f, 0.3f, 0.05f}));
  Value* b = graph.add_initializer("b", Tensor::of<float>({2}, {0, 0}));
  Value* y = GraphBuilder(graph).op("Gemm", {x, w, b});
  graph.rename(y, "y");
  graph.add_output(y);
  return model;
}

constexpr const char* kTable = "a,b,kind\n1,2,up\n2,1,down\n0,3,up\n3,0.5,down\n1,4,up\n5,2,down\n0.5,1,up\n";

struct Attempt {
  train::TrainingGraph training = [] {
    train::TrainingOptions options;
    options.optimizer.name = "adam";
    options.optimizer.lr = 0.05;
    return train::make_training_graph(line_model(), options);
  }();
  train::StepRunner runner{training};
};

train::LoopReport go(Attempt& run, const train::Dataset& data, const train::LoopOptions& options,
                     std::uint64_t stop_after) {
  return train::run_loop(run.runner, run.training, data, 0.05, options,
                         [&](const train::Progress& p) { return p.step < stop_after; });
}

TEST(Dataset, WordsOfACsvFileBecomeClasses) {
  const test::TempDir directory;
  test::write_text(directory / "table.csv", kTable);
  const train::Dataset data = train::load_dataset(directory / "table.csv", {.target = "kind", .scale = 1});
  EXPECT_EQ(data.count, 7);
  EXPECT_EQ(data.classes, (std::vector<std::string>{"down", "up"}));
  EXPECT_THROW(train::load_dataset(directory / "table.csv", {.target = "missing", .scale = 1}), Error);
}

TEST(Loop, ARunThatWasStoppedGoesOnToTheSameBits) {
  const test::TempDir directory;
  test::write_text(directory / "table.csv", kTable);
  const train::Dataset data = train::load_dataset(directory / "table.csv", {.target = "kind", .scale = 1});
  train::LoopOptions options;
  options.batch = 3;
  options.steps = 20;
  Attempt whole, first, second;
  const auto report = go(whole, data, options, 1000);
  EXPECT_EQ(report.steps, 20u);
  EXPECT_LT(report.last_loss, report.first_loss);
  options.checkpoints = directory / "checkpoints";
  options.every = 4;
  EXPECT_TRUE(go(first, data, options, 10).was_stopped);
  // A damaged newest checkpoint is noticed, and the one before it used.
  test::write_text(directory.path() / "checkpoints" / "step-00000019.npz", "damaged");
  options.resumes = true;
  const auto resumed = go(second, data, options, 1000);
  EXPECT_EQ(resumed.resumed_at, 10u);
  EXPECT_EQ(resumed.notes.size(), 1u);
  for (const std::string& name : whole.runner.state_names())
    EXPECT_EQ(whole.runner.state(name).to_tensor(), second.runner.state(name).to_tensor()) << name;
  Model model = line_model();
  train::export_weights(second.runner, model);
  EXPECT_EQ(*model.graph->find("w")->initializer, second.runner.state("w").to_tensor());
  EXPECT_GT(*train::evaluate(model, data, {}, 4).accuracy, 0.5);
}

}  // namespace
}  // namespace ingot
