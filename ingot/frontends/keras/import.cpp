// From a Keras model to a graph: inputs, outputs, names; what could not be translated.
#include "ingot/frontends/keras/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/frontends/keras/functions.h"
#include "ingot/frontends/keras/layer_table.h"
#include "ingot/frontends/keras/network.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/versions.h"

namespace ingot::frontends::keras {
namespace {

constexpr const char* kRemedy =
    "--allow-custom LAYER keeps a layer as a custom node, to which --functions may give a meaning; or replace it by "
    "layers of Keras and save the model again";

/// TF.js names itself instead of a version of Keras; its layers are those of Keras 2.
int version_of(const formats::keras::ModelFile& source) {
  if (const int stated = std::atoi(source.version.c_str()); stated > 0) return stated;
  return source.config["module"].exists() ? 3 : 2;
}

/// Whether penalties of activities are divided by the batch: not in Keras 3 before 3.14.
bool sums_are_means(const formats::keras::ModelFile& source) {
  const std::size_t point = source.version.find('.');
  const int second = point == std::string::npos ? 0 : std::atoi(source.version.c_str() + point + 1);
  return version_of(source) < 3 || second >= 14;
}

void add_inputs(Import& import, const Network& network, std::vector<Flow>& flows) {
  for (const NetworkInput& input : network.inputs()) {
    Type type = input.type;
    for (const auto& [name, shape] : import.options.input_shapes) {
      if (name != input.name) continue;
      if (type.shape && shape.size() != type.shape->size())
        throw Error(Code::bad_usage,
                    fmt::format("input '{}' is {}: its rank is not {}", name, type.str(), shape.size()));
      if (!type.shape) type.shape = Shape(shape.size());
      for (std::size_t i = 0; i < shape.size(); ++i)
        if (!shape[i].is_unknown()) (*type.shape)[i] = shape[i];
    }
    if (!type.shape) {
      import.problems.add(input.name, "InputLayer", "its shape is not stated", Code::shape_needed,
                          "--input-shape states it");
      continue;
    }
    IrValue* value = import.graph.add_input(import.graph.fresh_name(input.name), type);
    flows.push_back({value, nullptr});
  }
}

/// The value gets the layer's name, which nothing else keeps.
void add_output(Import& import, IrValue* value, const std::string& name) {
  Graph& graph = import.graph;
  bool is_own = value->producer() != nullptr;
  for (const Use& use : value->uses()) is_own &= use.node != nullptr;
  if (!is_own) {
    import.b.name_after(name);
    value = import.b.op("Identity", {value});
  }
  if (value->name() != name) {
    // A further output of the same layer has a number.
    IrValue* other = graph.find(name);
    if (other && !other->is_input() && std::ranges::count(graph.outputs(), other) == 0)
      graph.rename(other, graph.fresh_name(name + "_inner"));
    graph.rename(value, graph.fresh_name(name));
  }
  value->is_declared = true;
  graph.add_output(value);
}

void finish(Model& model) {
  drop_unread(model);
  for (Node& node : model.graph->nodes())
    if (node.output()) node.name = node.output()->name();
  for (const GraphPlace& place : all_graphs(model))
    for (const Node& node : place.graph->nodes()) {
      if (node.domain.empty() || model.opsets.version(node.domain)) continue;
      const int newest = ops::newest_opset(node.domain);
      model.opsets.set(node.domain, newest ? newest : 1);
    }
  model.ir_version = ops::ir_version_for(model.opsets);
}

std::vector<Flow> run_network(Import& import, Network& network) {
  std::vector<Flow> inputs;
  add_inputs(import, network, inputs);
  if (network.inputs().empty())
    throw Error(Code::bad_source_graph, "the model does not state the shape of its input")
        .hint("build the model or call it once before it is saved");
  if (!import.problems.empty()) import.problems.throw_if_any(kRemedy);
  return network.run(inputs);
}

}  // namespace

Imported import_model(const formats::keras::ModelFile& source, const ImportOptions& options) {
  Imported result;
  Model& model = result.model;
  model.producer_name = "ingot";
  model.opsets.set("", ops::newest_opset(""));
  Import import{.source = source,
                .options = options,
                .graph = *model.graph,
                .b = GraphBuilder(*model.graph),
                .custom = CustomOperators(options.allow_custom, "keras"),
                .version = version_of(source),
                .budget = options.budget ? *options.budget : Budget::unlimited()};
  Layer whole = layer_of(source.config, "", true);
  model.graph->name = whole.name;
  whole.scope.clear();
  whole.weights = Weights(source);
  const bool has_layers = whole.config.is_list() || whole.config["layers"].is_list();
  if (!has_layers)
    throw Error(Code::unsupported_setting,
                fmt::format("a model of class '{}' is Python code, not layers", whole.class_name))
        .hint("save it as a SavedModel (model.export), which holds its graph");
  Network network(import, whole);
  if (!options.outputs.empty()) network.choose_outputs(options.outputs);
  const std::vector<Flow> outputs = run_network(import, network);
  import.problems.throw_if_any(kRemedy);
  const std::vector<std::string> names = options.outputs.empty() ? network.output_names() : options.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (i >= names.size() || !outputs[i].value)
      throw Error(Code::bad_source_graph, fmt::format("no layer computes output {} of the model", i));
    add_output(import, outputs[i].value, names[i]);
  }
  for (const auto& [value, regularizer] : import.activities)
    result.activities.push_back({value->name(), regularizer, sums_are_means(source)});
  finish(model);
  result.parameters = std::move(import.parameters);
  std::ranges::stable_sort(result.parameters, {}, &Parameter::place);
  std::erase_if(result.parameters, [&](const Parameter& p) { return !model.graph->find(p.name); });
  result.notes = import.notes.take();
  return result;
}

std::vector<std::string> translated_layers() {
  std::vector<std::string> names;
  for (const Row& row : all_rows()) names.emplace_back(row.name);
  for (const PythonFunction& function : all_functions()) names.emplace_back(function.name);
  std::ranges::sort(names);
  return names;
}

}  // namespace ingot::frontends::keras
