// The training loop: data from files, checkpoints, the way back into the model.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "ingot/base/error.h"
#include "ingot/onnx/text.h"
#include "ingot/ops/builder.h"
#include "ingot/train/schedule.h"
#include "ingot/train/trainer.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"

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

train::TrainingOptions adam(double lr = 0.05) {
  train::TrainingOptions options;
  options.optimizer.name = "adam";
  options.optimizer.lr = lr;
  return options;
}

train::Dataset table(const test::TempDir& directory) {
  test::write_text(directory / "table.csv", kTable);
  train::DatasetOptions options;
  options.target = "kind";
  return train::load_dataset(directory / "table.csv", options);
}

train::LoopReport go(train::Trainer& trainer, const train::Dataset& data, const train::LoopOptions& options,
                     std::uint64_t stop_after = 1000) {
  train::LoopEvents events;
  events.on_step = [&](const train::Progress& p) { return p.step < stop_after; };
  return trainer.fit(data, options, events);
}

void expect_equal_state(train::Trainer& a, train::Trainer& b) {
  for (const std::string& name : a.runner().state_names())
    EXPECT_EQ(a.runner().state(name).to_tensor(), b.runner().state(name).to_tensor()) << name;
}

TEST(Dataset, WordsOfACsvFileBecomeClasses) {
  const test::TempDir directory;
  const train::Dataset data = table(directory);
  EXPECT_EQ(data.count, 7);
  EXPECT_EQ(data.preparation.classes, (std::vector<std::string>{"down", "up"}));
  train::DatasetOptions other;
  other.target = "missing";
  EXPECT_REFUSED(Code::bad_training_data, train::load_dataset(directory / "table.csv", other));
}

TEST(Dataset, PartOfASortedFileIsDrawnFromAllOfIt) {
  const test::TempDir directory;
  std::string text = "a,b,kind\n";
  for (int i = 0; i < 90; ++i) text += std::to_string(i) + ",1," + (i < 30 ? "x" : i < 60 ? "y" : "z") + "\n";
  test::write_text(directory / "table.csv", text);
  train::DatasetOptions options;
  options.target = "kind";
  train::Dataset data = train::load_dataset(directory / "table.csv", options);
  train::Dataset same = data, last = data;
  const train::Dataset drawn = train::split_off(data, 0.3, 7), again = train::split_off(same, 0.3, 7);
  EXPECT_EQ(data.count, 63);
  EXPECT_EQ(drawn.count, 27);
  EXPECT_EQ(train::fingerprint(drawn), train::fingerprint(again));
  std::vector<double> seen = data.find("features")->to_doubles(), held = drawn.find("features")->to_doubles();
  seen.insert(seen.end(), held.begin(), held.end());
  double sum = 0;
  for (std::size_t i = 0; i < seen.size(); i += 2) sum += seen[i];
  EXPECT_EQ(sum, 89 * 90 / 2) << "each example is in one of the two";
  const std::vector<double> kinds = drawn.find("kind")->to_doubles();
  for (const double kind : {0.0, 1.0, 2.0}) EXPECT_GT(std::ranges::count(kinds, kind), 3);
  const train::Dataset end = train::split_off(last, 0.3);
  EXPECT_EQ(end.find("features")->to_doubles().front(), 63);
}

TEST(Dataset, AHeaderMayHoldNumbersWhereTheTargetIsNamed) {
  const test::TempDir directory;
  test::write_text(directory / "table.csv", "2019,2020,kind\n1,2,up\n2,1,down\n");
  train::DatasetOptions options;
  options.target = "kind";
  EXPECT_EQ(train::load_dataset(directory / "table.csv", options).count, 2);
}

TEST(Dataset, ABadFieldIsNamedByRowAndColumn) {
  const test::TempDir directory;
  test::write_text(directory / "table.csv", "a,b,kind\n1,2,up\n2,oops,down\n");
  train::DatasetOptions options;
  options.target = "kind";
  try {
    train::load_dataset(directory / "table.csv", options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("row 2, column 'b': 'oops' is no number"), std::string::npos)
        << error.what();
  }
}

TEST(Loop, ARunThatWasStoppedGoesOnToTheSameBits) {
  const test::TempDir directory;
  const train::Dataset data = table(directory);
  train::LoopOptions options;
  options.batch = 3;
  options.steps = 20;
  options.schedule = "cosine";
  train::Trainer whole(line_model(), adam()), first(line_model(), adam()), second(line_model(), adam());
  const auto report = go(whole, data, options);
  EXPECT_EQ(report.steps, 20u);
  EXPECT_LT(report.last_loss, report.first_loss);
  options.checkpoints = directory / "checkpoints";
  options.every = "4";
  EXPECT_TRUE(go(first, data, options, 10).was_stopped);
  // A damaged newest checkpoint is noticed, and the one before it used.
  test::write_text(directory.path() / "checkpoints" / "step-00000019.npz", "damaged");
  options.resumes = true;
  const auto resumed = go(second, data, options);
  EXPECT_EQ(resumed.resumed_at, 10u);
  EXPECT_EQ(resumed.notes.size(), 1u);
  expect_equal_state(whole, second);
  const Model model = second.trained();
  EXPECT_EQ(*model.graph->find("w")->initializer, second.runner().state("w").to_tensor());
  EXPECT_GT(*train::evaluate(model, data).accuracy, 0.5);
}

TEST(Loop, EveryBitOfACheckpointIsWatched) {
  const test::TempDir directory;
  const train::Dataset data = table(directory);
  train::LoopOptions options;
  options.batch = 3;
  options.steps = 8;
  options.checkpoints = directory / "checkpoints";
  options.every = "4";
  train::Trainer first(line_model(), adam());
  go(first, data, options);
  const auto newest = directory.path() / "checkpoints" / "step-00000008.npz";
  const std::string good = test::read_text(newest);
  options.resumes = true;
  std::size_t unnoticed = 0;
  for (std::size_t at = 0; at < good.size(); at += 151) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    test::write_text(newest, bad);
    train::Trainer again(line_model(), adam());
    const auto report = go(again, data, options);
    if (report.resumed_at == 8 && report.notes.empty())
      for (const std::string& name : first.runner().state_names())
        unnoticed += !(first.runner().state(name).to_tensor() == again.runner().state(name).to_tensor());
    test::write_text(newest, good);
  }
  EXPECT_EQ(unnoticed, 0u);  // bytes that mean nothing, such as times, may change
}

TEST(Loop, OtherSettingsAreRefusedUnlessForced) {
  const test::TempDir directory;
  const train::Dataset data = table(directory);
  train::LoopOptions options;
  options.batch = 3;
  options.steps = 4;
  options.checkpoints = directory / "checkpoints";
  options.settings = {{"batch", "3"}};
  train::Trainer first(line_model(), adam()), second(line_model(), adam());
  go(first, data, options);
  options.resumes = true;
  options.settings = {{"batch", "5"}};
  try {
    go(second, data, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("batch: then 3, now 5"), std::string::npos) << error.what();
  }
  options.resumes_by_force = true;
  EXPECT_EQ(go(second, data, options).resumed_at, 4u);
}

TEST(Loop, TheFirstNodeThatIsNotFiniteIsNamed) {
  const test::TempDir directory;
  const train::Dataset data = table(directory);
  Model model = line_model();
  GraphBuilder g(*model.graph);
  Value* y = model.graph->output(0);
  Value* root = g.op("Sqrt", {y});  // not a number below zero
  root->producer()->name = "root";
  model.graph->set_output(0, root);
  train::LoopOptions options;
  options.steps = 3;
  train::Trainer trainer(model, adam());
  try {
    go(trainer, data, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::diverged);
    EXPECT_EQ(error.exit_code(), 7);
    EXPECT_NE(std::string(error.what()).find("node 'root' (Sqrt)"), std::string::npos) << error.what();
  }
}

TEST(Loop, AStepThatIsNotFiniteLeavesTheStateAsItWas) {
  const test::TempDir directory;
  const train::Dataset data = table(directory);
  Model model = line_model();
  GraphBuilder g(*model.graph);
  model.graph->set_output(0, g.op("Sqrt", {model.graph->output(0)}));
  train::LoopOptions options;
  options.steps = 3;
  train::Trainer trainer(model, adam());
  const std::vector<double> before = trainer.runner().state("w").to_doubles();
  EXPECT_REFUSED(Code::diverged, go(trainer, data, options));
  EXPECT_EQ(trainer.runner().state("w").to_doubles(), before);
}

TEST(Loop, StepsDoNotChangeWhatWasReadBefore) {
  const test::TempDir directory;
  const train::Dataset data = table(directory);
  train::LoopOptions options;
  options.steps = 2;
  train::Trainer trainer(line_model(), adam());
  go(trainer, data, options);
  const Array read = trainer.runner().state("w");
  const std::vector<double> numbers = read.to_doubles();
  go(trainer, data, options);
  EXPECT_EQ(read.to_doubles(), numbers);
  EXPECT_NE(trainer.runner().state("w").to_doubles(), numbers);
}

TEST(Loop, EndsWithoutProgressAndKeepsTheBest) {
  const test::TempDir directory;
  const train::Dataset data = table(directory);
  train::LoopOptions options;
  options.batch = 7;
  options.epochs = 50;
  options.patience = 3;
  options.restores_best = true;
  train::Trainer trainer(line_model(), adam());
  const double judgements[] = {5, 4, 3, 3.5, 3.2, 4};
  std::optional<Tensor> best;
  std::size_t epochs = 0;
  train::LoopEvents events;
  events.on_epoch = [&](const train::EpochEnd& end) {
    ++epochs;
    if (end.epoch == 2) best = trainer.runner().state("w").to_tensor();
    return judgements[end.epoch];
  };
  const auto report = trainer.fit(data, options, events);
  EXPECT_TRUE(report.ended_early);
  EXPECT_EQ(epochs, 6u);
  EXPECT_EQ(report.restored, 3.0);
  EXPECT_EQ(trainer.runner().state("w").to_tensor(), *best);
}

/// The same as line_model, with half of its inputs dropped in training.
Model dropping_model() {
  Model model = line_model();
  Graph& graph = *model.graph;
  Node* gemm = graph.find("y")->producer();
  GraphBuilder g(graph, gemm);
  gemm->set_input(0, g.op("Dropout", {graph.find("x")}));
  return model;
}

struct Drops {
  std::vector<double> losses;
  train::LoopReport report;
};

Drops drop(const train::Dataset& data, const train::LoopOptions& options, std::uint64_t stop_after = 1000) {
  train::TrainingOptions how;
  how.optimizer.name = "sgd";
  how.optimizer.lr = 0;  // so that losses differ by what is dropped alone
  train::Trainer trainer(dropping_model(), how);
  Drops drops;
  train::LoopEvents events;
  events.on_step = [&](const train::Progress& p) {
    drops.losses.push_back(p.loss);
    return p.step < stop_after;
  };
  drops.report = trainer.fit(data, options, events);
  return drops;
}

TEST(Loop, EachStepDropsOtherNumbers) {
  const test::TempDir directory;
  const train::Dataset data = table(directory);
  train::LoopOptions options;
  options.batch = 7;
  options.steps = 8;
  options.shuffles = false;
  const std::vector<double> losses = drop(data, options).losses;
  EXPECT_GE(std::set<double>(losses.begin(), losses.end()).size(), 6u);
  EXPECT_EQ(drop(data, options).losses, losses);
  options.checkpoints = directory / "runs";
  EXPECT_EQ(drop(data, options, 3).losses.size(), 3u);
  options.resumes = true;
  EXPECT_EQ(drop(data, options).losses, std::vector<double>(losses.begin() + 3, losses.end()));
  options.checkpoints.clear();
  options.resumes = false;
  options.seed = 1;
  EXPECT_NE(drop(data, options).losses, losses);
}

TEST(Loop, ADamagedBestStateIsSaidAtOnce) {
  const test::TempDir directory;
  const train::Dataset data = table(directory);
  train::LoopOptions options;
  options.batch = 7;
  options.epochs = 2;
  options.checkpoints = directory / "runs";
  options.restores_best = true;
  train::Trainer first(line_model(), adam());
  first.fit(data, options);
  test::write_text(directory.path() / "runs" / "best.npz", "nothing");
  options.resumes = true;
  train::Trainer second(line_model(), adam());
  std::vector<std::string> notes;
  train::LoopEvents events;
  events.on_note = [&](const std::string& text) { notes.push_back(text); };
  second.fit(data, options, events);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("best.npz' is damaged and passed over"), std::string::npos) << notes[0];
}

TEST(Evaluation, LeavesTrainingMode) {
  const test::TempDir directory;
  const train::Dataset data = table(directory);
  Model model = dropping_model();
  Node* dropout = model.graph->find("y")->producer()->input(0)->producer();
  GraphBuilder g(*model.graph, dropout);
  dropout->set_input(2, g.constant(Tensor::of<bool>({}, {true})));
  EXPECT_EQ(train::evaluate(model, data).loss, train::evaluate(line_model(), data).loss);
}

TEST(Parameters, EqualTensorsThatTheFileStoresOnceAreTrainedOnTheirOwn) {
  const test::TempDir directory;
  const train::Dataset data = table(directory);
  const Model model = onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
net (float[N, 2] x) => (float[N, 2] y)
<float[2] one = {1, 1}, float[2, 2] w = {0.1, -0.2, 0.3, 0.05}, float[2, 2] mask = {0, -1e9, 0, 0}>
{
  two = Identity(one)
  a = Mul(x, one)
  b = MatMul(a, w)
  c = Mul(b, two)
  scores = MatMul(c, mask)
  zero = Constant <value = float {0}> ()
  nothing = Mul(scores, zero)
  y = Add(c, nothing)
})");
  train::LoopOptions options;
  options.batch = 7;
  options.steps = 3;
  train::Trainer trainer(model, adam());
  trainer.fit(data, options);
  EXPECT_EQ(trainer.graphs()[0].notes.size(), 1u);
  EXPECT_NE(trainer.runner().state("one").to_tensor(), trainer.runner().state("two").to_tensor());
  EXPECT_FALSE(trainer.runner().has_state("mask"));
  const Model trained = trainer.trained();
  ASSERT_TRUE(trained.graph->find("two")->initializer);
  EXPECT_EQ(*trained.graph->find("two")->initializer, trainer.runner().state("two").to_tensor());
  train::TrainingOptions tied = adam();
  tied.parameters.tied = {"t*"};
  train::Trainer other(model, tied);
  EXPECT_FALSE(other.runner().has_state("two"));
  EXPECT_FALSE(other.trained().graph->find("two")->initializer);
}

TEST(Loop, GradientsOfSeveralBatchesMakeOneStep) {
  const test::TempDir directory;
  test::write_text(directory / "table.csv", "a,b,kind\n1,2,up\n2,1,down\n0,3,up\n3,0.5,down\n");
  train::DatasetOptions from;
  from.target = "kind";
  const train::Dataset data = train::load_dataset(directory / "table.csv", from);
  train::TrainingOptions how = adam();
  train::LoopOptions options;
  options.shuffles = false;
  options.batch = 4;
  options.steps = 5;
  train::Trainer whole(line_model(), how);
  go(whole, data, options);
  how.accumulate = 2;
  options.batch = 2;
  options.steps = 10;
  train::Trainer parts(line_model(), how);
  go(parts, data, options);
  const auto a = whole.runner().state("w").to_doubles(), b = parts.runner().state("w").to_doubles();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(Schedule, FollowsItsFormula) {
  EXPECT_DOUBLE_EQ(train::Schedule("linear").rate(1, 50, 100), 0.5);
  EXPECT_DOUBLE_EQ(train::Schedule("cosine").rate(1, 0, 100), 1);
  EXPECT_NEAR(train::Schedule("cosine:2").rate(1, 75, 100), 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(train::Schedule("step:10,0.5").rate(1, 25, 100), 0.25);
  EXPECT_DOUBLE_EQ(train::Schedule("multistep:10,20,0.5").rate(1, 20, 100), 0.25);
  EXPECT_DOUBLE_EQ(train::Schedule("polynomial:2").rate(1, 50, 100), 0.25);
  EXPECT_NEAR(train::Schedule("one-cycle").rate(1, 30, 100), 1, 1e-12);
  EXPECT_DOUBLE_EQ(train::Schedule("constant", 10).rate(1, 4, 100), 0.5);
  EXPECT_REFUSED(Code::bad_usage, train::Schedule("sometimes"));
  EXPECT_REFUSED(Code::bad_usage, train::Schedule("step:x"));
}

}  // namespace
}  // namespace ingot
