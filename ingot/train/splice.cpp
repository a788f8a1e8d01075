// A user's own loss or optimizer, put into the training graph.
#include "ingot/train/splice.h"

#include "ingot/base/error.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::train {

std::unordered_map<std::string, Value*> splice(const Model& model,
                                               const std::unordered_map<std::string, Value*>& inputs, Graph& into,
                                               const std::string& prefix) {
  Model copy = model.clone();
  passes::inline_functions(copy);
  passes::canonicalize(copy);
  const Graph& from = *copy.graph;
  Graph::ValueMap map;
  for (const Value* v : from.initializers())
    if (!inputs.contains(v->name()))
      map[v] = into.add_initializer(into.fresh_name(prefix + v->name()), *v->initializer);
  for (const Value* v : from.inputs()) {
    const auto given = inputs.find(v->name());
    if (given == inputs.end()) {
      if (v->initializer) continue;
      throw Error(Code::bad_usage, "the graph has an input '" + v->name() + "' that nothing here can feed");
    }
    std::string why;
    if (!may_match(given->second->type, v->type, &why))
      throw Error(Code::bad_usage, "input '" + v->name() + "' is " + v->type.str() + " but gets " +
                                       given->second->type.str() + ": " + why);
    map[v] = given->second;
  }
  const auto order = topological_order(from);
  if (!order) throw Error(Code::not_sorted, "the graph '" + from.name + "' has a cycle");
  for (const Node* node : *order) {
    Node* made = into.add_copy(*node, map, nullptr, prefix);
    if (!made->name.empty()) made->name = prefix + made->name;
    ops::InferSession session;
    ops::infer_node(*made, session);
  }
  std::unordered_map<std::string, Value*> outputs;
  for (const Value* v : from.outputs()) outputs[v->name()] = map.at(v);
  return outputs;
}

}  // namespace ingot::train
