// Real models as TFLite files: the native TFLite library and LiteRT give what Ingot's engine gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>

#include "ingot/backends/tflite/export.h"
#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/inputs.h"
#include "ingot/engine/session.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/writer.h"
#include "ingot/onnx/reader.h"
#include "ingot/onnx/text.h"
#include "ingot/ops/infer.h"
#include "tests/backends/agreement.h"
#include "tests/backends/other_runtime.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
namespace tflite = backends::tflite;

/// Draws that are the same everywhere.
class Draws {
 public:
  float next() {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<float>(state_ >> 8) / 16777216.0f;
  }

 private:
  std::uint32_t state_ = 7;
};

/// The light models have one number in place of all weights: they get drawn ones, scaled so that the numbers neither
/// vanish nor grow from layer to layer. The widest layers, which make up nearly all of the largest files, get 64.
void draw_weights(Model& model, const std::string& file) {
  std::map<std::int64_t, std::int64_t> narrowed{{4096, 64}};
  if (file == "light_vgg19.onnx") narrowed.insert({{512, 64}, {512 * 7 * 7, 64 * 7 * 7}});
  Graph& graph = *model.graph;
  Draws draws;
  const std::vector<Value*> initializers(graph.initializers().begin(), graph.initializers().end());
  for (Value* v : initializers) {
    graph.set_is_input(v, false);
    if (v->initializer->dtype() != DType::i64) continue;
    std::vector<std::int64_t> sizes = v->initializer->to_ints();
    for (std::int64_t& size : sizes)
      if (const auto narrow = narrowed.find(size); narrow != narrowed.end()) size = narrow->second;
    v->initializer = Tensor::of<std::int64_t>(v->initializer->dims(), sizes);
  }
  for (Node& node : graph.nodes()) {
    for (Value* v : node.outputs())
      if (v && std::ranges::none_of(v->uses(), [](const Use& u) { return !u.node; })) v->type = {};
    const Tensor* sizes = node.is("ConstantOfShape") ? ops::constant_of(node.input(0)) : nullptr;
    if (!sizes) continue;
    const Dims dims = sizes->to_ints();
    const std::int64_t count = tensor_size(dims);
    const float fan_in = dims.size() < 2 ? 1 : static_cast<float>(count / dims[0]);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& x : values) x = dims.size() < 2 ? 0.5f + draws.next() : (draws.next() - 0.5f) * std::sqrt(12 / fan_in);
    const std::string name = node.output(0)->name();
    Value* made = graph.add_initializer(graph.fresh_name(name), Tensor::of<float>(dims, values));
    graph.replace_all_uses(node.output(0), made);
    graph.erase(&node);
  }
}

/// Half precision, doubles and quantised numbers are other tests' business.
bool is_float_model(const Model& model) {
  bool has_float = false, has_other = false;
  for_each_graph(*model.graph, [&](Graph& g) {
    const auto look = [&](const Value* v) {
      if (!v) return;
      has_float |= v->type.elem == DType::f32;
      has_other |= v->type.elem == DType::f16 || v->type.elem == DType::bf16 || v->type.elem == DType::f64 ||
                   v->type.elem == DType::i8 || v->type.elem == DType::u8;
    };
    for (const Value* v : g.inputs()) look(v);
    for (const Value* v : g.outputs()) look(v);
    for (const Value* v : g.initializers()) look(v);
    for (const Node& node : g.nodes()) has_other |= node.op == "QuantizeLinear" || node.op == "DynamicQuantizeLinear";
  });
  return has_float && !has_other;
}

bool is_quantized(const Model& model) {
  bool is = false;
  for_each_graph(*model.graph, [&](Graph& g) {
    for (const Node& node : g.nodes()) is |= node.op == "QuantizeLinear" || node.op == "DequantizeLinear";
  });
  return is;
}

struct Tally {
  int models = 0, not_run = 0, floats = 0, converted = 0, native = 0, litert = 0;
  std::map<std::string, int> refusals;  // by reason
};

class Models {
 public:
  Models()
      : native_(test::OtherRuntime::find(verify::Runtime::tflite)),
        litert_(test::OtherRuntime::find(verify::Runtime::litert)),
        known_("model_differences.txt", true) {}
  bool are_runtimes_here() const { return native_ && litert_; }

  /// Compares one model; sizes that it leaves open are 1.
  void compare(const std::string& name, Model& model) {
    ++tally_.models;
    std::vector<Tensor> inputs, expected;
    if (const std::string why = reference(model, inputs, expected); !why.empty()) {
      ++tally_.not_run;
      return;
    }
    if (is_quantized(model)) return;  // tflite_quantized_test.cpp compares those layer by layer
    const bool is_float = is_float_model(model);
    tally_.floats += is_float;
    std::string file;
    try {
      file = formats::tflite::to_bytes(tflite::to_tflite(model).model);
    } catch (const Error& error) {
      if (is_float) note_refusal(name, error.message());
      return;
    }
    // The reader begins with the flatbuffers verifier.
    EXPECT_NO_THROW(formats::tflite::read(Bytes::copy(bytes_of(file)))) << name;
    tally_.converted += is_float;
    const auto in_native = native_->run(file, inputs);
    const std::string a = in_native.failure.empty() ? test::difference(in_native.outputs, expected) : in_native.failure;
    known_.check("native " + name, a);
    tally_.native += is_float && a.empty();
    if (inputs.empty()) return;  // LiteRT has no signature to run
    const auto in_litert = litert_->run(file, inputs);
    const std::string b = in_litert.failure.empty() ? test::difference(in_litert.outputs, expected) : in_litert.failure;
    known_.check("litert " + name, b);
    tally_.litert += is_float && b.empty();
  }

  const Tally& tally() const { return tally_; }
  void finish() const { known_.finish(); }

 private:
  /// Inputs, and what the engine makes of them; a text: why there is nothing to compare with.
  static std::string reference(Model& model, std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
    try {
      const auto drawn = driver::random_inputs(model, 42);
      driver::AdjustOptions fixed;
      for (const auto& d : drawn) {
        if (!d.value.array()) return "an input is no tensor";
        const Dims& dims = d.value.array()->dims();
        fixed.input_shapes.emplace_back(d.name, Shape(dims.begin(), dims.end()));
        inputs.push_back(d.value.array()->to_tensor());
      }
      driver::adjust(model, fixed);
      Budget budget(Limits{.memory = std::uint64_t{4} << 30, .time = std::chrono::seconds(30)});
      const engine::Session session(model, {.budget = &budget});
      for (const auto& d : session.run(drawn)) {
        if (!d.value.array()) return "an output is no tensor";
        outputs.push_back(d.value.array()->to_tensor());
      }
    } catch (const Error& error) {
      return error.message();
    }
    return outputs.empty() ? "no outputs" : "";
  }

  void note_refusal(const std::string& name, const std::string& message) {
    if (std::getenv("INGOT_VERBOSE")) std::printf("  %s: %s\n", name.c_str(), message.c_str());
    std::map<std::string, int> once;
    for (std::size_t at = message.find("\n  "); at != std::string::npos; at = message.find("\n  ", at + 1)) {
      const std::size_t from = message.find(" (", at), end = message.find('\n', at + 1);
      once[message.substr(from + 1, end == std::string::npos ? end : end - from - 1)];
    }
    for (const auto& [reason, unused] : once) ++tally_.refusals[reason];
  }

  std::unique_ptr<test::OtherRuntime> native_, litert_;
  test::KnownDifferences known_;
  Tally tally_;
};

std::vector<fs::path> models_under(const fs::path& shared, const char* directory) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(shared / directory))
    if (entry.path().extension() == ".onnx" && test::is_sampled(fs::relative(entry.path(), shared).string()))
      paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

TEST(TfliteModels, WhatConvertsAgreesInTfliteAndLiteRt) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the models are not here: no shared directory";
  Models models;
  if (!models.are_runtimes_here()) GTEST_SKIP() << "build/peers lacks TFLite or LiteRT: script/bootstrap installs them";
  for (const char* directory : {"onnx-backend-tests/light", "onnx-backend-tests/pytorch-converted", "corpus/onnx"})
    for (const fs::path& path : models_under(*shared, directory)) {
      Model model;
      try {
        model = onnx::read(path.string());
      } catch (const Error&) {
        continue;  // damaged on purpose: tests/onnx names them
      }
      const std::string file = path.filename().string();
      if (file.starts_with("light_")) draw_weights(model, file);
      models.compare(fs::relative(path, *shared).string(), model);
    }
  const Tally& t = models.tally();
  std::printf("%d models, %d of them not run by the engine on drawn inputs; of %d float models\n", t.models, t.not_run,
              t.floats);
  std::printf("  %d convert (%.1f %%), %d agree in TFLite, %d in LiteRT\n", t.converted,
              100.0 * t.converted / std::max(t.floats, 1), t.native, t.litert);
  std::printf("what is refused, by the number of models:\n");
  std::vector<std::pair<int, std::string>> reasons;
  for (const auto& [reason, count] : t.refusals) reasons.emplace_back(-count, reason);
  std::ranges::sort(reasons);
  for (const auto& [count, reason] : reasons) std::printf("  %4d  %s\n", -count, reason.c_str());
  models.finish();
}

/// Inputs with an open first size, which is a batch of 2 now; empty: none is open.
std::vector<engine::NamedDatum> batch_of_two(Model& model) {
  driver::AdjustOptions fixed;
  std::optional<Dim> batch;
  for (const Value* v : model.graph->inputs())
    if (!batch && !v->initializer && v->type.is_tensor() && v->type.shape && !v->type.shape->empty() &&
        !v->type.shape->front().is_known())
      batch = v->type.shape->front();
  if (!batch) return {};
  for (const Value* v : model.graph->inputs()) {
    if (v->initializer || !v->type.is_tensor() || !v->type.shape) continue;
    Shape shape;
    for (std::size_t i = 0; i < v->type.shape->size(); ++i) {
      const Dim& d = (*v->type.shape)[i];
      const bool is_batch = !d.is_known() && (same(d, *batch) || i == 0);
      shape.push_back(is_batch ? Dim(2) : Dim(d.as_int().value_or(1)));
    }
    fixed.input_shapes.emplace_back(v->name(), shape);
  }
  driver::adjust(model, fixed);
  return driver::random_inputs(model, 43);
}

TEST(TfliteModels, OpenBatchesAreResized) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the models are not here: no shared directory";
  const auto native = test::OtherRuntime::find(verify::Runtime::tflite);
  if (!native) GTEST_SKIP() << "build/peers has no tfjs-tflite-node: script/bootstrap installs it";
  test::KnownDifferences known("resize_differences.txt", true);
  int open = 0, converted = 0, agreed = 0;
  for (const fs::path& path : models_under(*shared, "corpus/onnx")) {
    std::vector<Tensor> inputs, expected;
    Model model;
    try {
      model = onnx::read(path.string());
      Model two = model.clone();
      const auto drawn = batch_of_two(two);
      if (drawn.empty() || !is_float_model(model)) continue;
      Budget budget(Limits{.memory = std::uint64_t{4} << 30, .time = std::chrono::seconds(30)});
      const engine::Session session(two, {.budget = &budget});
      for (const auto& d : drawn) inputs.push_back(d.value.array() ? d.value.array()->to_tensor() : Tensor());
      for (const auto& d : session.run(drawn))
        expected.push_back(d.value.array() ? d.value.array()->to_tensor() : Tensor());
    } catch (const Error&) {
      continue;  // not read, or not run with a batch of 2
    }
    if (std::ranges::any_of(inputs, std::not_fn(&Tensor::operator bool))) continue;
    ++open;
    std::string file;
    try {
      file = formats::tflite::to_bytes(tflite::to_tflite(model).model);
    } catch (const Error&) {
      continue;  // refused, with the sizes that are in the way
    }
    ++converted;
    const auto result = native->run(file, inputs);
    const std::string why = result.failure.empty() ? test::difference(result.outputs, expected) : result.failure;
    agreed += why.empty();
    known.check(fs::relative(path, *shared).string(), why);
  }
  known.finish();
  std::printf("%d float models run with a batch that they leave open, %d convert so, %d agree after resizing\n", open,
              converted, agreed);
}

TEST(TfliteModels, AnOpenBatchIsResizedInTfliteAndIsOneInLiteRt) {
  const auto native = test::OtherRuntime::find(verify::Runtime::tflite);
  const auto litert = test::OtherRuntime::find(verify::Runtime::litert);
  if (!native || !litert) GTEST_SKIP() << "build/peers lacks TFLite or LiteRT: script/bootstrap installs them";
  const Model model = onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float[N,2,6,6] x) => (float[N,3] y)
    <float[4,2,3,3] k = {1, -2, 3, 0, 1, -1, 2, 0.5, -1, 0, 1, 2, -3, 1, 0.25, 1, 0, -1, 2, 1, 0, -1, 1, 1, 0, 2, -2, 1,
                         0, 1, 1, -1, 0, 0.5, 2, -1, 1, 1, 0, -2, 1, 3, 0, -1, 1, 2, 0, 1, -1, 0, 1, 1, 2, -1, 0, 1, 0.5,
                         -1, 2, 1, 0, -1, 3, 1, 0, 1, -2, 1, 0, 1, 1, -1},
     float[4,3] w = {1, 2, -1, 0, 1, 3, -2, 1, 0, 1, 1, -1}>
    { a = Conv<pads = [1,1,1,1]>(x, k)  b = Relu(a)  c = GlobalAveragePool(b)  d = Flatten(c)  e = MatMul(d, w)
      y = Softmax(e) })",
                                       ".", {});
  const std::string file = formats::tflite::to_bytes(tflite::to_tflite(model).model);
  const engine::Session session(model);
  for (const std::int64_t batch : {1, 2, 5}) {
    Draws draws;
    std::vector<float> values(static_cast<std::size_t>(batch * 2 * 6 * 6));
    for (float& x : values) x = draws.next() - 0.5f;
    const Dims dims{batch, 2, 6, 6};
    const Tensor x = Tensor::of<float>(dims, values);
    const auto expected = session.run({{"x", Array::from(x)}});
    const Tensor y = expected[0].value.array()->to_tensor();
    const auto a = native->run(file, {x});
    EXPECT_EQ(a.failure, "");
    EXPECT_EQ(test::difference(a.outputs, {y}), "");
    // LiteRT's package for Node has no function that resizes an input: it runs the sizes in the file, where an open
    // batch is 1.
    if (batch > 1) continue;
    const auto b = litert->run(file, {x});
    EXPECT_EQ(b.failure, "");
    EXPECT_EQ(test::difference(b.outputs, {y}), "");
  }
}

}  // namespace
}  // namespace ingot
