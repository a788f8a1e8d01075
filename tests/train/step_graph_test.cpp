// One training step as an ordinary graph: Ingot's engine and ONNX Runtime's inference package see the same losses.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "ingot/onnx/writer.h"
#include "ingot/ops/builder.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/train/step_runner.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

constexpr std::size_t kBatch = 8;

/// Numbers that look random and are the same everywhere.
std::vector<float> numbers(std::size_t count, float size, unsigned seed) {
  std::vector<float> values;
  std::uint32_t state = seed * 2654435761U + 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    values.push_back((static_cast<float>(state >> 8) / 16777216.0f - 0.5f) * 2 * size);
  }
  return values;
}

/// Conv, BatchNormalization, Relu, MaxPool, Flatten, Gemm on images [N, 1, 8, 8], for 3 classes.
Model small_network() {
  Model model;
  model.ir_version = 10;
  model.opsets.set("", 21);
  Graph& graph = *model.graph;
  graph.name = "small";
  const auto weight = [&](const char* name, Dims dims, float size) {
    const std::size_t count = static_cast<std::size_t>(tensor_size(dims));
    return graph.add_initializer(name, Tensor::of<float>(std::move(dims), numbers(count, size, 7)));
  };
  Value* x = graph.add_input("x", Type::tensor(DType::f32, Shape{Dim::symbol("N"), 1, 8, 8}));
  GraphBuilder g(graph);
  Value* kernel = weight("conv.weight", {4, 1, 3, 3}, 0.4f);
  Value* h = g.op("Conv", {x, kernel, weight("conv.bias", {4}, 0.1f)}, {{"pads", {1, 1, 1, 1}}});
  Value* scale = graph.add_initializer("norm.scale", Tensor::of<float>({4}, {1, 1, 1, 1}));
  Value* bias = graph.add_initializer("norm.bias", Tensor::of<float>({4}, {0, 0, 0, 0}));
  Value* mean = graph.add_initializer("norm.mean", Tensor::of<float>({4}, {0, 0, 0, 0}));
  Value* variance = graph.add_initializer("norm.var", Tensor::of<float>({4}, {1, 1, 1, 1}));
  h = g.op("BatchNormalization", {h, scale, bias, mean, variance});
  h = g.op("MaxPool", {g.op("Relu", {h})}, {{"kernel_shape", {2, 2}}, {"strides", {2, 2}}});
  Value* dense = weight("fc.weight", {3, 64}, 0.2f);
  Value* y = g.op("Gemm", {g.op("Flatten", {h}), dense, weight("fc.bias", {3}, 0.1f)}, {{"transB", 1}});
  graph.rename(y, "y");
  y->is_declared = true;
  graph.add_output(y);
  return model;
}

std::string json_of(const Array& array) {
  std::ostringstream out;
  out.precision(17);
  const char* type = array.dtype() == DType::f64 ? "float64" : array.dtype() == DType::i64 ? "int64" : "float32";
  out << "{\"type\":\"" << type << "\",\"dims\":[";
  for (std::size_t i = 0; i < array.dims().size(); ++i) out << (i ? "," : "") << array.dims()[i];
  out << "],\"data\":[";
  const auto values = array.to_doubles();
  for (std::size_t i = 0; i < values.size(); ++i) out << (i ? "," : "") << values[i];
  out << "]}";
  return out.str();
}

std::vector<double> losses_of(const std::string& command) {
  std::vector<double> losses;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 256> line{};
  while (pipe && std::fgets(line.data(), line.size(), pipe)) losses.push_back(std::atof(line.data()));
  if (pipe) pclose(pipe);
  return losses;
}

class StepGraph : public testing::TestWithParam<const char*> {};

TEST_P(StepGraph, TrainsInOnnxRuntimeAsInIngot) {
  const std::filesystem::path modules = test::source_dir() / "build/peers/node_modules";
  if (!exists(modules / "onnxruntime-node")) GTEST_SKIP() << "ONNX Runtime is not here: script/bootstrap installs it";
  train::TrainingOptions options;
  options.optimizer.name = GetParam();
  options.optimizer.lr = 0.02;
  const train::TrainingGraph training = train::make_training_graph(small_network(), options);
  train::StepRunner runner(training);
  constexpr std::size_t kSteps = 12;
  const Array images = Array::of<float>({kBatch, 1, 8, 8}, numbers(kBatch * 64, 1, 3));
  const Array labels = Array::of<std::int64_t>({kBatch}, {0, 1, 2, 0, 1, 2, 0, 1});

  const test::TempDir directory;
  std::string state = "{", batches = "[";
  for (const std::string& name : runner.state_names())
    state += (state.size() > 1 ? ",\"" : "\"") + name + "\":" + json_of(runner.state(name));
  state += ",\"" + training.lr + "\":" + json_of(Array::scalar(0.02)) + "}";
  const std::string batch = "{\"x\":" + json_of(images) + ",\"" + training.target + "\":" + json_of(labels) + "}";
  for (std::size_t i = 0; i < kSteps; ++i) batches += (i ? "," : "") + batch;
  test::write_text(directory / "state.json", state);
  test::write_text(directory / "batches.json", batches + "]");
  Model step = train::step_graph(training);
  passes::convert_version(step, {{"", 21, {}}});
  passes::fit_ir_version(step, 10);
  onnx::write(step, directory / "step.onnx");
  const std::string script = test::source_dir() / "tests/train/step_graph.mjs";
  const std::vector<double> theirs =
      losses_of("node '" + script + "' '" + modules.string() + "' '" + (directory / "step.onnx") + "' '" +
                (directory / "state.json") + "' '" + (directory / "batches.json") + "'");
  ASSERT_EQ(theirs.size(), kSteps);
  double first = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    runner.step({{"x", images}, {training.target, labels}});
    if (i == 0) first = runner.loss();
    EXPECT_NEAR(runner.loss(), theirs[i], 1e-6 * std::max(1.0, runner.loss())) << "step " << i;
  }
  EXPECT_LT(runner.loss(), 0.8 * first);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, StepGraph, testing::Values("sgd", "momentum", "adam"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace ingot
