// A training step as a Python module.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/torch/carriers.h"
#include "ingot/backends/torch/forward.h"
#include "ingot/backends/torch/operators.h"
#include "ingot/backends/torch/python_file.h"

namespace ingot::backends::torch {
namespace {

const StepState* find_state(const std::vector<StepState>& state, const std::string StepState::*name,
                            const std::string& wanted) {
  const auto found = std::ranges::find(state, wanted, name);
  return found == state.end() ? nullptr : &*found;
}

/// The code of a step: state is read from a dictionary and written back at the end.
Signature write_step(Script& script, const Graph& graph, const std::vector<StepState>& state) {
  Signature made;
  script.line("state = self.state");
  script.fresh("state");
  for (const Value* input : graph.inputs()) {
    if (input->initializer) continue;
    if (find_state(state, &StepState::name, input->name())) {
      script.bind(input, "state[" + quoted(input->name()) + "]");
    } else {
      script.bind(input, script.fresh(input->name()));
      made.arguments.push_back(script.name(input) + ": " + annotation_of(input->type));
    }
  }
  write_nodes(script, graph);
  std::vector<std::string> results, types, updates;
  for (const Value* output : graph.outputs()) {
    if (const StepState* next = find_state(state, &StepState::next, output->name())) {
      updates.push_back(quoted(next->name) + ": " + script.name(output));
    } else {
      results.push_back(script.name(output));
      types.push_back(annotation_of(output->type));
    }
  }
  script.line("state.update(");
  script.line("    {");
  for (const std::string& update : updates) script.line("        " + update + ",");
  script.line("    }");
  script.line(")");
  script.line("return " + joined(results));
  made.result = results.size() == 1 ? types[0] : "Tuple[" + joined(types) + "]";
  return made;
}

}  // namespace

Source to_train_step(const Model& step, const std::vector<StepState>& state, const ExportOptions& options) {
  Prepared prepared = prepare(step, options);
  Script script(Dialect::source, {});
  const Signature signature = write_step(script, *prepared.model.graph, state);
  Source made{.code = {}, .weights = {}, .notes = std::move(prepared.notes)};
  const auto store = [&](const std::string& name, const Tensor& tensor) {
    const Tensor held = carried(tensor);
    made.weights.tensors.push_back({.name = name, .dtype = held.dtype(), .dims = held.dims(), .data = held.bytes()});
  };
  for (const StepState& s : state) store(s.name, s.value);
  std::vector<std::string> constants;
  for (const formats::torch::StoredTensor& c : script.constants()) {
    constants.push_back(fmt::format("constant{}", constants.size()));
    store(constants.back(), Tensor(c.dtype, c.dims, c.data));
  }
  PythonFile file("A step of training the network '" + step.graph->name + "' in PyTorch. Written by Ingot.");
  file.add_functions(script.functions());
  file.add_step(constants, signature, script.code());
  made.code = file.text();
  made.weights.metadata["format"] = "pt";
  return made;
}

}  // namespace ingot::backends::torch
