// From a TFLite model to a graph: which subgraph, its inputs and outputs, its names; what could not be translated.
#include "ingot/frontends/tflite/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/frontends/tflite/frame.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/versions.h"

namespace ingot::frontends::tflite {
namespace {

/// The part of a subgraph that is wanted, with the names that the outside sees.
struct Interface {
  std::size_t subgraph = 0;
  std::vector<std::int32_t> inputs, outputs;
  std::vector<std::string> input_names, output_names;
  std::vector<bool> operators;  // empty: all
};

const tfl::SignatureDef* signature_of(const tfl::Model& model, const std::string& wanted) {
  std::string known;
  const tfl::SignatureDef* found = nullptr;
  for (const tfl::SignatureDef& s : model.signature_defs) {
    known += (known.empty() ? "" : ", ") + s.signature_key;
    if (!wanted.empty() ? s.signature_key == wanted : s.subgraph_index == 0 && !found) found = &s;
  }
  if (!found && !wanted.empty())
    throw Error(Code::unknown_name, "the model has no signature '" + wanted + "'")
        .hint(known.empty() ? "it has none at all" : "its signatures are: " + known);
  return found;
}

std::string name_in(const std::vector<tfl::TensorMap>& names, std::int32_t tensor, const std::string& otherwise) {
  for (const tfl::TensorMap& m : names)
    if (static_cast<std::int64_t>(m.tensor_index) == tensor && !m.name.empty()) return m.name;
  return otherwise;
}

std::int32_t tensor_by_name(const tfl::SubGraph& graph, const std::vector<std::int32_t>& own,
                            const std::vector<std::string>& own_names, const std::string& name) {
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own_names[i] == name) return own[i];
  for (std::size_t i = 0; i < graph.tensors.size(); ++i)
    if (graph.tensors[i].name == name) return static_cast<std::int32_t>(i);
  throw Error(Code::unknown_name, "the model has no tensor '" + name + "'");
}

/// Keeps only what lies between the tensors asked for.
void cut(Interface& face, const tfl::SubGraph& graph, const ImportOptions& options) {
  if (options.inputs.empty() && options.outputs.empty()) return;
  std::vector<std::int32_t> outputs;
  std::vector<bool> is_input(graph.tensors.size()), is_needed(graph.tensors.size());
  for (const std::string& name : options.outputs)
    outputs.push_back(tensor_by_name(graph, face.outputs, face.output_names, name));
  std::vector<std::int32_t> inputs;
  for (const std::string& name : options.inputs) {
    inputs.push_back(tensor_by_name(graph, face.inputs, face.input_names, name));
    is_input[static_cast<std::size_t>(inputs.back())] = true;
  }
  if (!options.outputs.empty()) {
    face.outputs = outputs;
    face.output_names = options.outputs;
  }
  for (const std::int32_t t : face.outputs) is_needed[static_cast<std::size_t>(t)] = true;
  face.operators.assign(graph.operators.size(), false);
  for (std::size_t i = graph.operators.size(); i-- > 0;) {
    const tfl::Operator& op = graph.operators[i];
    bool is_wanted = op.outputs.empty();
    for (const std::int32_t t : op.outputs)
      is_wanted |=
          t != tfl::kNoTensor && is_needed[static_cast<std::size_t>(t)] && !is_input[static_cast<std::size_t>(t)];
    if (!is_wanted) continue;
    face.operators[i] = true;
    for (const std::int32_t t : op.inputs)
      if (t != tfl::kNoTensor) is_needed[static_cast<std::size_t>(t)] = true;
  }
  std::vector<std::int32_t> kept = inputs;
  std::vector<std::string> names = options.inputs;
  for (std::size_t i = 0; i < face.inputs.size(); ++i) {
    const auto t = static_cast<std::size_t>(face.inputs[i]);
    if (!is_needed[t] || is_input[t]) continue;
    kept.push_back(face.inputs[i]);
    names.push_back(face.input_names[i]);
  }
  face.inputs = std::move(kept);
  face.input_names = std::move(names);
}

Interface interface_of(const tfl::Model& model, const ImportOptions& options) {
  Interface face;
  const tfl::SignatureDef* signature = signature_of(model, options.signature);
  if (signature) face.subgraph = signature->subgraph_index;
  if (model.subgraphs.empty()) throw Error(Code::bad_source_graph, "the model has no graph");
  const tfl::SubGraph& graph = model.subgraphs.at(face.subgraph);
  face.inputs = graph.inputs;
  face.outputs = graph.outputs;
  static const std::vector<tfl::TensorMap> kNone;
  for (const std::int32_t t : graph.inputs)
    face.input_names.push_back(
        name_in(signature ? signature->inputs : kNone, t, graph.tensors.at(static_cast<std::size_t>(t)).name));
  for (const std::int32_t t : graph.outputs)
    face.output_names.push_back(
        name_in(signature ? signature->outputs : kNone, t, graph.tensors.at(static_cast<std::size_t>(t)).name));
  cut(face, graph, options);
  return face;
}

Type input_type(Frame& frame, const tfl::Tensor& tensor, const std::string& name, const ImportOptions& options) {
  Type type = frame.type_of(tensor);
  if (!type.shape) type.shape = Shape{};
  for (std::size_t i = 0; i < type.shape->size(); ++i)
    if ((*type.shape)[i].is_unknown()) (*type.shape)[i] = Dim::symbol(fmt::format("{}_{}", name, i));
  for (const auto& [wanted, shape] : options.input_shapes) {
    if (wanted != name) continue;
    if (shape.size() != type.shape->size())
      throw Error(Code::bad_usage, fmt::format("input '{}' is {}: its rank is not {}", name, type.str(), shape.size()));
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (!shape[i].is_unknown()) (*type.shape)[i] = shape[i];
  }
  return type;
}

/// The value gets the name, which nothing else keeps; a value that has a name of its own is passed on.
void add_output(Graph& graph, Value* value, const std::string& name, const std::string& source) {
  bool is_own = value->producer() && &value->graph() == &graph;
  for (const Use& use : value->uses()) is_own &= use.node != nullptr;
  if (!is_own) {
    GraphBuilder builder(graph);
    builder.name_after(name);
    builder.set_metadata({{std::string(kSource), source}});
    value = builder.op("Identity", {value});
  }
  if (value->name() != name && !name.empty()) {
    if (Value* other = graph.find(name); other && !other->is_input())
      graph.rename(other, graph.fresh_name(name + "_inner"));
    graph.rename(value, graph.fresh_name(name));
  }
  value->is_declared = true;
  graph.add_output(value);
}

/// Values have names of their own in the whole model; nodes get the same.
void name_nodes(const Model& model) {
  for (const GraphPlace& place : all_graphs(model))
    for (Node& node : place.graph->nodes())
      if (node.output()) node.name = node.output()->name();
}

/// Domains that nodes use beside ONNX's own are imported too.
void import_domains(Model& model) {
  for (const GraphPlace& place : all_graphs(model))
    for (const Node& node : place.graph->nodes()) {
      if (node.domain.empty() || model.opsets.version(node.domain)) continue;
      const int newest = ops::newest_opset(node.domain);
      model.opsets.set(node.domain, newest ? newest : 1);
    }
  model.ir_version = ops::ir_version_for(model.opsets);
}

}  // namespace

Imported import_model(const tfl::Model& source, const ImportOptions& options) {
  const Interface face = interface_of(source, options);
  Import import{source, options};
  Imported result;
  Model& model = result.model;
  model.producer_name = "ingot";
  model.opsets.set("", ops::newest_opset(""));
  model.graph->name = source.subgraphs[face.subgraph].name.empty() ? "main" : source.subgraphs[face.subgraph].name;
  model.doc_string = source.description;
  Graph& graph = *model.graph;
  import.main = &graph;

  Frame frame(import, face.subgraph, graph);
  for (std::size_t i = 0; i < face.inputs.size(); ++i) {
    const tfl::Tensor& tensor = frame.tensor(face.inputs[i]);
    const std::string name = face.input_names[i].empty() ? fmt::format("input_{}", i) : face.input_names[i];
    Value* value = graph.add_input(graph.fresh_name(name), input_type(frame, tensor, name, options));
    if (frame.is_quantized(tensor) && tensor.quantization->scale.size() == 1) {
      const auto& zero = tensor.quantization->zero_point;
      value->metadata.emplace_back(kQuantization,
                                   fmt::format("{} {}", tensor.quantization->scale[0], zero.empty() ? 0 : zero[0]));
    }
    frame.set(face.inputs[i], value);
  }
  frame.translate(face.operators);
  for (std::size_t i = 0; i < face.outputs.size() && import.problems.empty(); ++i) {
    const tfl::Tensor& tensor = frame.tensor(face.outputs[i]);
    const std::string name = face.output_names[i].empty() ? fmt::format("output_{}", i) : face.output_names[i];
    Value* value = frame.stored(face.outputs[i]);
    if (is_complex(dtype_for(tensor.type)))
      import.problems.add(name, "output", "ONNX has no operators on complex numbers", Code::unsupported_operator);
    add_output(graph, value, name, tensor.name);
  }
  import.problems.throw_if_any(
      "--allow-custom NAME keeps an operator as a custom node; --outputs cuts the graph before it");
  finish_variables(import, graph);
  model.functions = std::move(import.functions);
  import_domains(model);
  name_nodes(model);
  result.notes = import.notes.take();
  return result;
}

std::vector<std::string> translated_operators() {
  std::vector<std::string> names;
  for (const Row& row : all_rows()) names.emplace_back(row.name);
  return names;
}

}  // namespace ingot::frontends::tflite
