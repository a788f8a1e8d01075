// A part of a model as a model.
#include "ingot/passes/extract.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/passes/infer.h"

namespace ingot::passes {
namespace {

Value* find(const Graph& graph, const std::string& name) {
  if (Value* value = graph.find(name)) return value;
  throw Error(Code::unknown_name, "the model has no value '" + name + "' to cut at");
}

/// An input in place of the value of that name, which hands its readers over.
void cut_at(Graph& graph, const std::string& name) {
  Value* old = find(graph, name);
  if (!old->is_input() && !old->producer())
    throw Error(Code::bad_usage, "'" + name + "' is a constant: it cannot become an input");
  if (!old->type) throw Error(Code::bad_usage, "the type of '" + name + "' is not known: it cannot become an input");
  graph.rename(old, graph.fresh_name(name + "_cut"));
  Value* input = old->initializer ? graph.add_initializer(name, *old->initializer) : graph.add_input(name, old->type);
  if (old->initializer) graph.set_is_input(input, true);
  input->type = old->type;
  input->is_declared = true;
  input->doc_string = old->doc_string;
  input->metadata = old->metadata;
  graph.replace_all_uses(old, input);
}

void set_outputs(Graph& graph, const Values& outputs) {
  graph.resize_outputs(0);
  for (Value* value : outputs) {
    value->is_declared = true;
    graph.add_output(value);
  }
}

}  // namespace

void extract(Model& model, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  if (inputs.empty() && outputs.empty()) return;
  if (!model.training.empty())
    throw Error(Code::bad_usage, "a model with training information cannot be cut")
        .hint("'ingot strip-training' takes it out");
  take_defaults_for_constants(model);
  Graph& graph = *model.graph;
  InferOptions tolerant;
  tolerant.keep_declared = true;
  tolerant.tolerate_errors = true;
  infer(model, tolerant);
  // Looked up before inputs take names over: an output that is cut at is what was computed, not what is fed.
  Values wanted;
  for (const std::string& name : outputs) wanted.push_back(find(graph, name));
  const Values before(graph.inputs().begin(), graph.inputs().end());
  for (const std::string& name : inputs) {
    if (std::ranges::count(inputs, name) > 1) throw Error(Code::bad_usage, "'" + name + "' is named twice");
    cut_at(graph, name);
  }
  if (!outputs.empty()) set_outputs(graph, wanted);
  drop_unread(graph);
  // The model's own inputs follow those named.
  if (!inputs.empty())
    for (const Value* old : before)
      if (!old->uses().empty()) cut_at(graph, std::string(old->name()));
  const auto is_unread = [&](const Value& v) {
    const bool is_old = std::ranges::find(before, &v) != before.end();
    return is_old && v.uses().empty();
  };
  graph.erase_initializers_if(is_unread);
  graph.erase_inputs_if(is_unread);
}

}  // namespace ingot::passes
