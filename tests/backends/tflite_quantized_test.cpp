// Quantised ONNX models as quantised TFLite: each layer within a step of what the ONNX model means, the same top-1.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "ingot/backends/tflite/export.h"
#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/load.h"
#include "ingot/engine/session.h"
#include "ingot/formats/tflite/writer.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/ops/infer.h"
#include "tests/backends/agreement.h"
#include "tests/backends/other_runtime.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
namespace tfl = formats::tflite;
using Results = std::map<std::string, Tensor>;  // by the name of the value

/// What lies between two quantised values: the values that go in, and the one that comes out.
struct Layer {
  std::string output;
  std::vector<std::string> inputs;
};

bool is_constant(const Value* v) { return !v->producer() && !v->is_input(); }

/// From each QuantizeLinear back to the values that are dequantised for it, or to the graph's inputs.
std::vector<Layer> layers_of(const Graph& graph) {
  std::vector<Layer> layers;
  for (const Node& node : graph.nodes()) {
    if (!node.is("QuantizeLinear") || is_constant(node.input(0))) continue;
    Layer layer{node.output(0)->name(), {}};
    std::set<const Value*> seen;
    std::vector<const Value*> open{node.input(0)};
    while (!open.empty()) {
      const Value* v = open.back();
      open.pop_back();
      if (!v || is_constant(v) || !seen.insert(v).second) continue;
      const Node* maker = v->producer();
      const bool is_dequantized = maker && maker->is("DequantizeLinear");
      if (is_dequantized && ops::constant_of(maker->input(0))) continue;
      if (!maker)
        layer.inputs.push_back(v->name());
      else if (is_dequantized)
        layer.inputs.push_back(maker->input(0)->name());
      else
        for (const Value* x : maker->inputs()) open.push_back(x);
    }
    std::ranges::sort(layer.inputs);
    layer.inputs.erase(std::unique(layer.inputs.begin(), layer.inputs.end()), layer.inputs.end());
    if (!layer.inputs.empty()) layers.push_back(std::move(layer));
  }
  return layers;
}

/// The layer alone as a model, its inputs of the types that `values` have.
Model cut_out(const Model& model, const Layer& layer, const Results& values) {
  Model cut = model.clone();
  Graph& graph = *cut.graph;
  graph.resize_outputs(0);
  graph.add_output(graph.find(layer.output));
  for (const std::string& name : layer.inputs) {
    Value* v = graph.find(name);
    if (v->is_input()) {
      v->type = values.at(name).type();
      continue;
    }
    Value* input = graph.add_input(graph.fresh_name(name + "_input"), values.at(name).type());
    const std::vector<Use> uses(v->uses().begin(), v->uses().end());
    for (const Use& use : uses)
      if (use.node) use.node->set_input(use.index, input);
  }
  drop_unread(graph);
  graph.erase_inputs_if([](const Value& v) { return v.uses().empty(); });
  return cut;
}

/// All values that layers read and write, computed by the engine.
Results reference(const Model& model, const std::vector<Layer>& layers, const std::vector<engine::NamedDatum>& inputs) {
  Model all = model.clone();
  std::set<std::string> names;
  for (const Value* v : all.graph->outputs()) names.insert(v->name());
  for (const Layer& layer : layers) {
    names.insert(layer.output);
    names.insert(layer.inputs.begin(), layer.inputs.end());
  }
  Results results;
  for (const engine::NamedDatum& d : inputs) results[d.name] = d.value.array()->to_tensor();
  all.graph->resize_outputs(0);
  for (const std::string& name : names)
    if (!results.contains(name)) all.graph->add_output(all.graph->find(name));
  const engine::Session session(all);
  for (const auto& d : session.run(inputs)) results[d.name] = d.value.array()->to_tensor();
  return results;
}

/// Integers within one step.
std::string steps_apart(const Tensor& got, const Tensor& expected) {
  if (got.dtype() != expected.dtype() || got.dims() != expected.dims()) return "another type or shape";
  const std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
  double worst = 0;
  std::size_t far = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(a[i] - b[i]));
    far += std::abs(a[i] - b[i]) > 1;
  }
  return far ? std::to_string(far) + " of " + std::to_string(a.size()) + " elements more than a step apart, worst " +
                   std::to_string(static_cast<int>(worst))
             : "";
}

std::size_t top(const Tensor& t) {
  const std::vector<double> values = t.to_doubles();
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

struct Tally {
  int models = 0, refused = 0, layers = 0, layers_refused = 0, layers_close = 0, same_top = 0;
  std::size_t operators = 0, in_float = 0;
};

/// Operators that compute in float although the model is quantised.
void count_float(const tfl::Model& model, Tally& tally) {
  for (const tfl::SubGraph& g : model.subgraphs)
    for (const tfl::Operator& op : g.operators) {
      if (op.code.builtin == tfl::BuiltinOperator::QUANTIZE || op.code.builtin == tfl::BuiltinOperator::DEQUANTIZE)
        continue;
      if (op.outputs.empty()) continue;  // variables are written, nothing comes out
      ++tally.operators;
      tally.in_float += g.tensors[static_cast<std::size_t>(op.outputs[0])].type == tfl::TensorType::FLOAT32;
    }
}

void compare(const std::string& name, Model& model, test::OtherRuntime& native, test::KnownDifferences& known,
             Tally& tally) {
  std::vector<Layer> layers;
  Results values;
  std::vector<engine::NamedDatum> inputs;
  try {
    inputs = driver::random_inputs(model, 42);
    driver::AdjustOptions fixed;
    for (const auto& d : inputs) {
      const Array* array = d.value.array();
      if (!array) return;
      fixed.input_shapes.emplace_back(d.name, Shape(array->dims().begin(), array->dims().end()));
    }
    driver::adjust(model, fixed);
    layers = layers_of(*model.graph);
    if (layers.empty()) return;
    values = reference(model, layers, inputs);
  } catch (const Error&) {
    return;  // what does not run has nothing to be compared with
  }
  ++tally.models;
  const auto run = [&](const Model& m, const std::vector<Tensor>& fed) -> test::OtherRuntime::Result {
    const auto exported = backends::tflite::to_tflite(m);
    if (fed.empty()) count_float(exported.model, tally);
    return fed.empty() ? test::OtherRuntime::Result{} : native.run(tfl::to_bytes(exported.model), fed);
  };
  try {
    run(model, {});
  } catch (const Error& error) {
    ++tally.refused;
    std::printf("refused: %s: %s\n", name.c_str(), error.message().c_str());
    return;
  }
  for (const Layer& layer : layers) {
    ++tally.layers;
    std::vector<Tensor> fed;
    std::string why;
    const Model cut = cut_out(model, layer, values);
    for (const Value* v : cut.graph->inputs())
      if (!v->initializer) {
        const std::string& given = v->name();
        for (const std::string& n : layer.inputs)
          if (given == n || given.starts_with(n + "_input")) fed.push_back(values.at(n));
      }
    try {
      const auto result = run(cut, fed);
      why = result.failure.empty() ? steps_apart(result.outputs[0], values.at(layer.output)) : result.failure;
    } catch (const Error& error) {
      why = error.message();
    }
    tally.layers_close += why.empty();
    known.check("layer " + name + " " + layer.output, why);
  }
  std::vector<Tensor> fed;
  for (const auto& d : inputs) fed.push_back(d.value.array()->to_tensor());
  const auto whole = run(model, fed);
  std::string why = whole.failure;
  for (std::size_t i = 0; why.empty() && i < whole.outputs.size(); ++i) {
    const Tensor& expected = values.at(model.graph->output(i)->name());
    const std::size_t mine = top(whole.outputs[i]), theirs = top(expected);
    const std::vector<double> numbers = expected.to_doubles();
    if (numbers.empty() || numbers[mine] == numbers[theirs]) continue;
    why = "output " + std::to_string(i) + " has its largest element at " + std::to_string(mine) + " instead of " +
          std::to_string(theirs);
  }
  tally.same_top += why.empty();
  known.check("top-1 " + name, why);
}

TEST(TfliteQuantized, LayersAreWithinAStepAndTheTopIsTheSame) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the models are not here: no shared directory";
  const auto native = test::OtherRuntime::find(verify::Runtime::tflite);
  if (!native) GTEST_SKIP() << "build/peers has no tfjs-tflite-node: script/bootstrap installs it";
  test::KnownDifferences known("quantized_differences.txt", true);
  Tally tally;
  for (const char* directory : {"corpus/onnx", "corpus/tflite"}) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(*shared / directory))
      if (entry.is_regular_file() && test::is_sampled(fs::relative(entry.path(), *shared).string()))
        paths.push_back(entry.path());
    std::ranges::sort(paths);
    for (const fs::path& path : paths) {
      if (path.extension() != ".onnx" && path.extension() != ".tflite") continue;
      try {
        Model model = driver::load(path.string()).model;
        compare(fs::relative(path, *shared).string(), model, *native, known, tally);
      } catch (const Error&) {
        continue;  // not read, or not translated: other tests name them
      }
    }
  }
  known.finish();
  std::printf("%d quantised models, %d of them refused; %d of %d layers within a step, the same top-1 in %d models\n",
              tally.models, tally.refused, tally.layers_close, tally.layers, tally.same_top);
  std::printf("%zu of %zu operators compute in float\n", tally.in_float, tally.operators);
}

}  // namespace
}  // namespace ingot
