// Renaming of values, with all the places that mention them by name.
#include "ingot/passes/rename.h"

#include <unordered_map>

#include "ingot/base/error.h"

namespace ingot::passes {
namespace {

using Names = std::unordered_map<std::string, std::string>;

void replace(std::string& name, const Names& names) {
  const auto it = names.find(name);
  if (it != names.end()) name = it->second;
}

void rename_in_gradient(Node& node, const Names& names) {
  for (const char* list : {"xs", "zs"})
    if (Attribute* a = node.attributes.find(list))
      if (auto* strings = std::get_if<std::vector<std::string>>(&a->value))
        for (std::string& s : *strings) replace(s, names);
  if (Attribute* y = node.attributes.find("y"))
    if (auto* text = std::get_if<std::string>(&y->value)) replace(*text, names);
}

}  // namespace

void rename_values(Model& model, const std::vector<std::pair<std::string, std::string>>& renames) {
  Graph& graph = *model.graph;
  Names names;
  std::vector<std::pair<Value*, std::string>> todo;
  for (const auto& [from, to] : renames) {
    Value* value = graph.find(from);
    if (!value) throw Error(Code::unknown_name, "the model has no value '" + from + "' to rename");
    if (to.empty()) throw Error(Code::bad_usage, "'" + from + "' cannot be given an empty name");
    if (!names.emplace(from, to).second) throw Error(Code::bad_usage, "'" + from + "' is renamed twice");
    todo.emplace_back(value, to);
  }
  // First out of the way, so that names can be exchanged.
  for (auto& [value, to] : todo) graph.rename(value, graph.fresh_name("renaming"));
  for (auto& [value, to] : todo) {
    if (graph.fresh_name(to) != to)
      throw Error(Code::bad_usage, "the name '" + to + "' is taken")
          .hint("rename that value too, or choose another name");
    graph.rename(value, to);
  }
  for (const GraphPlace& place : all_graphs(model)) {
    if (place.function) continue;
    for (Node& node : place.graph->nodes())
      if (node.op == "Gradient") rename_in_gradient(node, names);
    for (QuantizationAnnotation& q : place.graph->quantization) {
      replace(q.tensor_name, names);
      for (auto& [key, tensor] : q.parameters) replace(tensor, names);
    }
  }
  for (TrainingInfo& t : model.training) {
    for (auto& [key, output] : t.initialization_binding) replace(key, names);
    for (auto& [key, output] : t.update_binding) {
      replace(key, names);
      replace(output, names);
    }
  }
}

}  // namespace ingot::passes
