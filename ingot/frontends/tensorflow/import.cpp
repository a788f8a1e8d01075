// From a graph of TensorFlow to a model: inputs, nodes, outputs.
#include "ingot/frontends/tensorflow/import.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/model_inputs.h"
#include "ingot/frontends/tensorflow/operator_check.h"
#include "ingot/frontends/tensorflow/ports.h"
#include "ingot/frontends/tensorflow/training.h"
#include "ingot/frontends/tensorflow/translation.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/versions.h"

namespace ingot::frontends::tensorflow {
namespace {

using Results = std::vector<std::pair<Port, Operand>>;

Results translate_outputs(Translation& t, const Ports& ports) {
  Results results;
  for (const Port& port : ports.outputs) {
    const Source source = t.main().resolve(port.tensor);
    const Operand first = t.get(t.main_scope(), source);
    if (first.is_missing) continue;
    if (port.tensor.find(':') != std::string::npos || !ports.are_found) {
      results.emplace_back(port, first);
      continue;
    }
    // A sink gives all its outputs: the first by the node's name, the others with their number.
    const auto done = t.main_scope().done.find(source.node);
    const Operands all = done == t.main_scope().done.end() ? Operands{first} : done->second;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].value) results.emplace_back(Port{i ? port.name + ":" + std::to_string(i) : port.name, {}}, all[i]);
  }
  return results;
}

void add_output(Translation& t, const Port& port, Value* value) {
  Graph& graph = t.root();
  const bool is_taken = std::ranges::count(graph.outputs(), value) != 0;
  if (!value->producer() || is_taken || &value->graph() != &graph) {
    t.main_scope().builder.name_after(port.name);
    value = t.main_scope().builder.op("Identity", {value});
  }
  if (Value* owner = graph.find(port.name); owner && owner != value && !owner->is_input())
    graph.rename(owner, graph.fresh_name(port.name + "/value"));
  if (graph.find(port.name) && graph.find(port.name) != value)
    graph.rename(value, graph.fresh_name(port.name));
  else
    graph.rename(value, port.name);
  if (value->type.is_tensor() && port.shape) {
    const Type stated = Type::tensor(value->type.elem, port.shape);
    if (may_match(value->type, stated)) value->type = refine(value->type, stated);
  }
  value->is_declared = true;
  graph.add_output(value);
}

void add_outputs(Translation& t, const Results& results, const Losses& losses) {
  for (const auto& result : results) {
    const Port& port = result.first;
    Value* value = result.second.value;
    if (std::ranges::any_of(losses, [&](const auto& loss) { return loss.second == value; })) continue;
    if (!value) throw Error(Code::unsupported_setting, "output '" + port.name + "' is a handle, not a tensor");
    if (t.is_complex(value))
      t.note("output '" + port.name + "' is complex: pairs of real and imaginary part along a last axis");
    add_output(t, port, value);
  }
}

/// A graph that only trains answers with what it has learnt.
void add_learnt_outputs(Translation& t) {
  std::map<std::string, Value*> learnt;
  for (const auto& [variable, next] : t.variables().updates())
    if (is_float(variable->type.elem)) learnt.emplace(variable->name(), variable);
  if (t.root().output_count() != 0) return;
  for (const auto& [name, variable] : learnt) add_output(t, Port{name + "/value", {}}, variable);
}

/// What reads a value whose rank became known later was inferred without it.
void infer_late(Graph& root) {
  ops::InferSession session;
  session.on_error = [](const Node&, const Error&) {};
  for (Node& node : root.nodes()) {
    const Values outputs = node.outputs();
    const auto is_open = [](const Value* v) { return v && v->type.is_tensor() && !v->type.shape; };
    if (std::ranges::any_of(outputs, is_open)) ops::infer_node(node, session);
  }
}

}  // namespace

ImportResult import_graph(const tf::GraphDef& graph, const ImportOptions& options, const ModelFiles& files) {
  Translation t(graph, options, files);
  const Ports ports = find_ports(t.main(), options, t.notes());
  check_operators(t, reachable(t.main(), ports));
  for (const Port& port : ports.inputs) add_input(t, port);
  const Results results = translate_outputs(t, ports);
  const bool trains = options.mode != ImportMode::inference;
  const Losses losses = trains ? translate_training(t) : Losses();
  t.throw_problems();
  add_outputs(t, results, losses);
  if (trains) {
    add_learnt_outputs(t);
    finish_training(t, losses);
    t.throw_problems();  // of how variables begin
  }
  if (t.has_late_ranks()) infer_late(t.root());
  drop_unread(t.model());
  t.examples().settle(t.notes());
  t.model().ir_version = ops::ir_version_for(t.model().opsets);
  return {std::move(t.model()), t.notes().take(), t.variables().take_blank()};
}

}  // namespace ingot::frontends::tensorflow
