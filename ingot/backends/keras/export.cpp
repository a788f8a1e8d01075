// ONNX -> layers of Keras: rewriting, layouts, layers.
#include "ingot/backends/keras/export.h"

#include <algorithm>

#include "ingot/backends/keras/layer_out.h"
#include "ingot/backends/keras/rewrites.h"
#include "ingot/base/error.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/legalize/target.h"

namespace ingot::backends::keras {
namespace {

using passes::legalize::Refusal;
using passes::legalize::Target;

constexpr std::string_view kSpatial[] = {"AveragePool", "Conv", "ConvTranspose", "MaxPool", "Resize"};
constexpr std::string_view kRewrites[] = {"batch-normalization-as-line", "global-pool-by-reduction"};

Refused refusal(const Node& node) {
  const Row* row = row_of(node);
  if (!row) return Refusal{Kind::unknown_operator, "no layer of TF.js and Keras is it"};
  for (const Value* v : node.inputs())
    if (v && !v->type.shape) return Refusal{Kind::unknown_size, "the rank of an input is not known"};
  if (!node.output(0) || !node.output(0)->type.shape) return Refusal{Kind::unknown_size, "its rank is not known"};
  return row->refuses(node);
}

Target target_of() {
  Target target;
  target.title = "layers of Keras";
  target.refuses = refusal;
  target.has_port = [](const Type& type) {
    return type.is_tensor() && type.shape && !type.shape->empty() &&
           (type.elem == DType::f32 || type.elem == DType::i32 || type.elem == DType::i64);
  };
  target.own_rewrites = recurrent_rewrites();
  // Whole operators are layers; what they are made of is not.
  target.keeps_whole = [](const Node& n) { return n.is("LSTM") || n.is("GRU") || n.is("RNN"); };
  target.rewrites.assign(std::begin(kRewrites), std::end(kRewrites));
  target.has_defaults = false;
  target.layout.wanted = [](const Node& n) {
    return std::ranges::binary_search(kSpatial, n.op) ? passes::Layout::channels_last : passes::Layout::channels_first;
  };
  return target;
}

}  // namespace

std::vector<Obstacle> find_obstacles(const Model& source, const passes::legalize::Options& options) {
  Model model = source.clone();
  return passes::legalize::to_target(model, target_of(), options).obstacles;
}

LayersModel to_layers(const Model& source, const passes::legalize::Options& options) {
  Model model = source.clone();
  const Target target = target_of();
  passes::legalize::Report report = passes::legalize::to_target(model, target, options);
  passes::legalize::require_none(report.obstacles, target);
  LayersModel result;
  result.notes = std::move(report.notes);
  Graph& graph = *model.graph;
  ops::InferSession session;
  ops::infer_graph(graph, session);
  passes::legalize::lay_out(graph, target, options, result.notes);
  Layers layers;
  for (const Value* v : graph.inputs())
    if (!v->initializer) layers.add_input(*v);
  const auto order = topological_order(graph);
  for (const Node* node : *order) {
    const Row* row = row_of(*node);
    if (node->is("Constant")) continue;
    if (!row) throw Error(Code::broken_invariant, "'" + node->op + "' is left, which is no layer");
    LayerOut out{layers, *node};
    row->emit(out);
  }
  std::vector<std::string> outputs;
  for (const Value* v : graph.outputs()) {
    if (!layers.has(v))
      throw Error(Code::unsupported_feature, "output '" + v->name() + "' is a constant, which no layer gives");
    outputs.push_back(layers.named(layers.layer_of(v), v->name()));
  }
  result.config = layers.config(graph.name, outputs);
  result.weights = std::move(layers.weights);
  return result;
}

std::vector<std::string> written_operators() {
  std::vector<std::string> names;
  for (const Row& row : all_rows()) names.emplace_back(row.op);
  return names;
}

}  // namespace ingot::backends::keras
