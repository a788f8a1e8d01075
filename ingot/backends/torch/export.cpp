// ONNX -> TorchScript: rewriting, parameters, code.
#include "ingot/backends/torch/export.h"

#include <map>

#include "ingot/backends/torch/carriers.h"
#include "ingot/backends/torch/forward.h"
#include "ingot/backends/torch/module_tree.h"
#include "ingot/backends/torch/operators.h"
#include "ingot/ops/catalog.h"

namespace ingot::backends::torch {

namespace {

/// Shapes and types of inputs and the outputs' names, which code does not tell.
formats::torch::InterfaceFile interface_of(Script& script, const Graph& graph) {
  formats::torch::InterfaceFile made;
  for (const Value* input : graph.inputs()) {
    if (input->initializer) continue;
    made.inputs.push_back({.name = script.name(input)});
    auto& one = made.inputs.back();
    if (!input->type.is_tensor()) continue;
    one.dtype = carrier_of(input->type.elem);
    if (!input->type.shape) continue;
    one.shape.emplace();
    for (const Dim& size : *input->type.shape)
      one.shape->push_back({.number = size.as_int().value_or(-1), .name = size.is_known() ? "" : size.str()});
  }
  for (const Value* output : graph.outputs()) made.outputs.push_back(output->name());
  return made;
}

}  // namespace

std::vector<Obstacle> find_obstacles(const Model& source, const ExportOptions& options) {
  Model model = source.clone();
  return passes::legalize::to_target(model, target_for(holdings_of(*source.graph)), options).obstacles;
}

Exported to_torch(const Model& source, const ExportOptions& options) {
  Prepared prepared = prepare(source, options);
  const Holdings& holdings = prepared.holdings;
  ModuleTree tree;
  std::map<std::string, std::string> paths;
  // A tensor becomes part of the module when the code first names it.
  Script script(Dialect::archive, [&](const Value& value) -> std::string {
    if (!holdings.has(value.name())) return {};
    const auto known = paths.find(value.name());
    if (known != paths.end()) return known->second;
    const Tensor tensor = carried(*value.initializer);
    const bool is_parameter = holdings.parameters.contains(value.name());
    return paths[value.name()] = tree.add(
               value.name(),
               {.dtype = tensor.dtype(), .dims = tensor.dims(), .data = tensor.bytes(), .requires_grad = is_parameter},
               !is_parameter);
  });
  const Signature signature = write_forward(script, *prepared.model.graph);
  std::string head = "  def forward(self: __torch__.Model";
  for (const std::string& argument : signature.arguments) head += ",\n    " + argument;
  Exported result{.archive = {}, .notes = std::move(prepared.notes)};
  result.archive.name = "model";
  result.archive.code = script.functions() + tree.classes(head + ") -> " + signature.result + ":\n" + script.code());
  result.archive.root = tree.stored();
  result.archive.constants = script.constants();
  result.archive.interface = interface_of(script, *prepared.model.graph);
  return result;
}

std::vector<OperatorSupport> supported_operators() {
  const passes::legalize::Target torch = target_for({});
  std::vector<OperatorSupport> list;
  for (const ops::OpDef* def : ops::all()) {
    OperatorSupport line{.op = std::string(def->name), .domain = std::string(def->domain)};
    line.is_native = line.domain.empty() && find_row(def->name);
    line.decomposes = def->decompose || passes::legalize::has_rewrite(torch, def->name, def->domain);
    list.push_back(std::move(line));
  }
  return list;
}

}  // namespace ingot::backends::torch
