// A model made ready for PyTorch, and its graph as the code of a function.
#include "ingot/backends/torch/forward.h"

#include <fmt/format.h>

#include "ingot/backends/torch/carriers.h"
#include "ingot/backends/torch/operators.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/convert_version.h"

namespace ingot::backends::torch {
namespace {

void note_carried(const Graph& graph, std::vector<std::string>& notes) {
  const auto note = [&](std::string_view what, const Value* value) {
    const DType dtype = value->type.elem;
    if (value->type.is_tensor() && is_carried(dtype))
      notes.push_back(fmt::format("{} '{}' is {} in PyTorch, which has no {}", what, value->name(),
                                  name_of(carrier_of(dtype)), name_of(dtype)));
  };
  for (const Value* value : graph.inputs())
    if (!value->initializer) note("input", value);
  for (const Value* value : graph.outputs()) note("output", value);
}

}  // namespace

Prepared prepare(const Model& source, const ExportOptions& options) {
  Prepared made{.model = source.clone(), .holdings = holdings_of(*source.graph), .notes = {}};
  const passes::legalize::Target torch = target_for(made.holdings);
  passes::legalize::Report report = passes::legalize::to_target(made.model, torch, options);
  passes::legalize::require_none(report.obstacles, torch);
  made.notes = std::move(report.notes);
  note_carried(*made.model.graph, made.notes);
  return made;
}

Signature write_forward(Script& script, const Graph& graph) {
  Signature made;
  for (const Value* input : graph.inputs())
    if (!input->initializer) {
      script.bind(input, script.fresh(input->name()));
      made.arguments.push_back(script.name(input) + ": " + annotation_of(input->type));
    }
  write_nodes(script, graph);
  std::vector<std::string> results, types;
  for (const Value* output : graph.outputs()) {
    results.push_back(script.name(output));
    types.push_back(annotation_of(output->type));
  }
  const bool is_one = results.size() == 1;
  script.line("return " + (is_one ? results[0] : "(" + joined(results) + ")"));
  made.result = is_one ? types[0] : "Tuple[" + joined(types) + "]";
  return made;
}

}  // namespace ingot::backends::torch
