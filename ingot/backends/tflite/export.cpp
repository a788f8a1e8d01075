// ONNX -> TFLite: rewriting, layouts, operators, signature.
#include "ingot/backends/tflite/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "ingot/backends/tflite/called_operator.h"
#include "ingot/backends/tflite/infinities.h"
#include "ingot/backends/tflite/legalize.h"
#include "ingot/backends/tflite/operators.h"
#include "ingot/backends/tflite/quantized.h"
#include "ingot/backends/tflite/rewrite.h"
#include "ingot/backends/tflite/settle_outputs.h"
#include "ingot/backends/tflite/simplify.h"
#include "ingot/backends/tflite/variables.h"
#include "ingot/base/error.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/catalog.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::backends::tflite {
namespace {

constexpr std::string_view kSpatial[] = {"AveragePool", "Conv",    "ConvTranspose", "DepthToSpace",
                                         "LRN",         "MaxPool", "SpaceToDepth"};

std::int64_t bytes_of(const Value* v) {
  std::int64_t n = 4;
  for (const Dim& d : *v->type.shape) n *= std::clamp<std::int64_t>(d.as_int().value_or(64), 1, 1 << 16);
  return n;
}

/// Operators that TFLite has for the last axis only, or for channels last only, bring two transposes with them.
std::int64_t penalty(const Node& node, std::span<const std::int64_t> perm) {
  const Value* x = node.input(0);
  if (!x || !x->type.shape || x->type.shape->size() != perm.size()) return 0;
  const passes::Perm order(perm.begin(), perm.end());
  const auto last = static_cast<std::int64_t>(perm.size()) - 1;
  if (node.is("Softmax") || node.is("LogSoftmax") || node.is("TopK"))
    return passes::moved_axis(order, node.attributes.int_or("axis", -1)) == last ? 0 : 2 * bytes_of(x);
  if (node.is("Resize")) {
    const Shape &in = *x->type.shape, &out = *node.output(0)->type.shape;
    return same(in[static_cast<std::size_t>(order.back())], out[static_cast<std::size_t>(order.back())])
               ? 0
               : 2 * bytes_of(x);
  }
  return 0;
}

constexpr std::size_t kMostDims = 8;  // what TFLite's kernels have room for

const Value* value_of_many_dimensions(const Node& node) {
  for (const Values& values : {node.inputs(), node.outputs()})
    for (const Value* v : values)
      if (v && v->type.is_tensor() && v->type.shape && v->type.shape->size() > kMostDims) return v;
  return nullptr;
}

/// Operators are written in the order in which they run; files may have them in any.
void sort_nodes(Graph& graph) {
  for_each_graph(graph, [](Graph& g) {
    const auto order = topological_order(g);
    if (!order) throw Error(Code::cyclic_graph, "the nodes of graph '" + g.name + "' depend on each other");
    for (Node* node : *order) g.move_before(node, nullptr);
  });
}

/// What may help where a node cannot be said.
std::string remedy_for(const Node& node, std::string_view reason, const ExportOptions& options) {
  const auto says = [&](std::string_view words) { return reason.find(words) != std::string_view::npos; };
  if (says("no kernel for") || says("does not cast")) {
    if (options.auto_cast == AutoCast::none) return "--auto-cast up, or all";
    if (options.auto_cast == AutoCast::up) return "--auto-cast all";
  }
  if (says("not known")) return "--input-shape";
  return "--allow-custom " + node.op + (node.domain.empty() ? "" : ":" + node.domain);
}

/// Everything that cannot be said.
std::vector<Obstacle> obstacles_of(Graph& graph, const ExportOptions& options) {
  std::vector<Obstacle> list;
  for_each_graph(graph, [&](Graph& g) {
    for (const Node& node : g.nodes()) {
      if (const Value* v = value_of_many_dimensions(node)) {
        list.push_back(
            {node.label(), node.op, fmt::format("'{}' has more than {} dimensions", v->name(), kMostDims), ""});
        continue;
      }
      if (is_native(node, options)) continue;
      const std::string op = node.domain.empty() ? node.op : node.domain + "." + node.op;
      std::string reason = refusal(node);
      if (reason.empty()) reason = "TFLite has it as an operator of its own only";
      list.push_back({node.label(), op, reason, remedy_for(node, reason, options)});
    }
    const auto check_port = [&](const Value* v, std::string_view what) {
      if (!v || (v->type.is_tensor() && tensor_type_of(v->type.elem))) return;
      list.push_back({fmt::format("{} '{}'", what, v->name()), "", "TFLite has no " + v->type.str(), ""});
    };
    for (const Value* v : g.initializers())
      if (v->sparse_initializer)
        list.push_back({fmt::format("initializer '{}'", v->name()), "", "sparse weights are not written", ""});
    for (const Value* v : g.inputs()) check_port(v, "input");
    for (const Value* v : g.outputs()) check_port(v, "output");
  });
  return list;
}

void require_none(const std::vector<Obstacle>& obstacles) {
  if (obstacles.empty()) return;
  std::string list, remedies;
  std::set<std::string> told;
  for (const Obstacle& o : obstacles) {
    list += "\n  " + o.where + (o.op.empty() ? "" : " (" + o.op + ")") + ": " + o.reason;
    if (!o.remedy.empty() && told.insert(o.remedy).second) remedies += (remedies.empty() ? "" : "; ") + o.remedy;
  }
  Error error(Code::not_expressible,
              fmt::format("{} of the model cannot be expressed in TFLite:{}",
                          obstacles.size() == 1 ? "one part" : fmt::format("{} parts", obstacles.size()), list));
  if (!remedies.empty()) error.hint("what may help: " + remedies);
  throw error;
}

void set_layouts(Graph& graph, const ExportOptions& options, const std::vector<State>& states,
                 std::vector<std::string>& notes) {
  const auto is_state = [&](const Value* v) {
    return std::ranges::any_of(states, [&](const State& s) { return s.input == v->name() || s.output == v->name(); });
  };
  const auto note = [&](std::string_view what, const std::string& name, const Value* v) {
    notes.push_back(fmt::format("{} '{}' is now {}", what, name, v->type.str()));
  };
  using passes::Layout;
  if (options.inputs_as == Layout::channels_last)
    for (std::size_t i = 0; i < graph.inputs().size(); ++i)
      if (!is_state(graph.inputs()[i]) &&
          passes::set_input_layout(graph, i, Layout::channels_first, Layout::channels_last))
        note("input", graph.inputs()[i]->name(), graph.inputs()[i]);
  if (options.outputs_as == Layout::channels_last)
    for (std::size_t i = 0; i < graph.output_count(); ++i)
      if (!is_state(graph.output(i)) &&
          passes::set_output_layout(graph, i, Layout::channels_first, Layout::channels_last))
        note("output", graph.output(i)->name(), graph.output(i));
}

/// Defaults of inputs stay defaults in no TFLite file: they become constants.
void fix_defaults(Graph& graph, std::vector<std::string>& notes) {
  const std::vector<Value*> initializers(graph.initializers().begin(), graph.initializers().end());
  for (Value* v : initializers)
    if (v->is_input()) {
      notes.push_back(fmt::format("input '{}' has a default and is now a constant", v->name()));
      graph.set_is_input(v, false);
    }
}

/// Parameters of integer inputs that no operator tells.
void set_quantization(Emitter& emitter, const Graph& graph) {
  for (const Value* v : graph.inputs()) {
    std::istringstream text{std::string(note_of(v->metadata, kQuantization))};
    Quantization q;
    q.scale.resize(1);
    q.zero_point.resize(1);
    const bool is_byte = v->type.elem == DType::i8 || v->type.elem == DType::u8 || v->type.elem == DType::i16;
    if (v->initializer || !is_byte || !(text >> q.scale[0] >> q.zero_point[0])) continue;
    if (!(q.scale[0] > 0) || !std::isfinite(q.scale[0])) continue;
    const std::int32_t x = emitter.tensor(v);
    if (!emitter.subgraph().tensors[static_cast<std::size_t>(x)].quantization) emitter.quantize(x, std::move(q));
  }
}

void add_signature(fmt_tflite::Model& model, const Graph& graph) {
  if (model.subgraphs[0].inputs.empty()) return;  // runtimes refuse a signature without inputs
  fmt_tflite::SignatureDef signature;
  signature.signature_key = "serving_default";
  const fmt_tflite::SubGraph& main = model.subgraphs[0];
  std::size_t at = 0;
  for (const Value* v : graph.inputs())
    if (!v->initializer) signature.inputs.push_back({v->name(), static_cast<std::uint32_t>(main.inputs[at++])});
  std::set<std::string> names;  // one value may be an output twice; runtimes tell outputs apart by their names
  for (std::size_t i = 0; i < graph.output_count(); ++i) {
    std::string name = graph.output(i)->name();
    while (!names.insert(name).second) name += "_again";
    signature.outputs.push_back({std::move(name), static_cast<std::uint32_t>(main.outputs[i])});
  }
  model.signature_defs.push_back(std::move(signature));
}

void add_metadata(Output& output, const Model& source, const ExportOptions& options) {
  std::string text = "format: onnx\n";
  if (!source.producer_name.empty()) text += "producer: " + source.producer_name + " " + source.producer_version + "\n";
  if (!source.graph->name.empty()) text += "graph: " + source.graph->name + "\n";
  text += fmt::format("inputs_as: {}\noutputs_as: {}\n",
                      options.inputs_as == passes::Layout::channels_last ? "nhwc" : "as in the source",
                      options.outputs_as == passes::Layout::channels_last ? "nhwc" : "as in the source");
  output.model.buffers.push_back(Bytes::own(std::move(text)));
  output.model.metadata.push_back({"ingot_source", static_cast<std::uint32_t>(output.model.buffers.size() - 1)});
}

}  // namespace

namespace {

/// The model in TFLite's vocabulary, as far as there is one.
Model expressed(const Model& source, const ExportOptions& options, std::vector<std::string>& notes,
                std::vector<State>& states) {
  Model model = source.clone();
  inline_other_functions(model, options);
  model.training.clear();
  passes::canonicalize(model);
  Graph& graph = *model.graph;
  sort_nodes(graph);
  infer_again(graph);
  take_own_states(graph);
  states = take_states(graph, notes);
  fix_defaults(graph, notes);
  legalize(graph, options, notes);
  keep_infinities(graph);
  cast_for_tflite(graph, options, notes);
  legalize(graph, options, notes);
  return model;
}

}  // namespace

std::vector<Obstacle> find_obstacles(const Model& source, const ExportOptions& options) {
  std::vector<std::string> notes;
  std::vector<State> states;
  const Model model = expressed(source, options, notes, states);
  return obstacles_of(*model.graph, options);
}

Exported to_tflite(const Model& source, const ExportOptions& options) {
  Exported result;
  std::vector<State> states;
  const Model model = expressed(source, options, result.notes, states);
  Graph& graph = *model.graph;
  require_none(obstacles_of(graph, options));

  set_layouts(graph, options, states, result.notes);
  passes::LayoutOptions layout;
  layout.wanted = [](const Node& n) {
    return std::ranges::binary_search(kSpatial, n.op) ? passes::Layout::channels_last : passes::Layout::channels_first;
  };
  layout.penalty = penalty;
  result.layout = passes::choose_layout(graph, layout);

  Output output;
  output.float16_weights = options.float16_weights;
  output.model.buffers.emplace_back();
  output.model.description = "written by Ingot from ONNX";
  Emitter main(output, graph);
  main.emit();
  set_quantization(main, graph);
  simplify(output);
  fuse_activations(output);
  prefer_signed(output);
  fuse_quantized(output);
  simplify(output);  // operators that were apart by a DEQUANTIZE are neighbours now
  spread_quantization(output);
  settle_outputs(output);
  add_signature(output.model, graph);
  keep_states(output, states);
  add_metadata(output, source, options);
  result.notes.insert(result.notes.end(), output.notes.begin(), output.notes.end());
  if (output.rounded_products)
    result.notes.push_back(fmt::format("{} products round their activations to 8 bits, as in the model they come from",
                                       output.rounded_products));
  result.model = std::move(output.model);
  return result;
}

std::vector<OperatorSupport> supported_operators() {
  std::vector<OperatorSupport> list;
  for (const ops::OpDef* def : ops::all()) {
    OperatorSupport line;
    line.op = std::string(def->name);
    line.domain = std::string(def->domain);
    line.is_native = line.domain.empty() && std::ranges::find(all_rows(), def->name, &Row::op) != all_rows().end();
    line.decomposes = def->decompose || has_rewrite(def->name);
    list.push_back(std::move(line));
  }
  return list;
}

}  // namespace ingot::backends::tflite
