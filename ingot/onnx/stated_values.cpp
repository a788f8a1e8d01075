// Which values get a value info.
#include "ingot/onnx/stated_values.h"

#include <algorithm>

namespace ingot::onnx {

std::vector<const Value*> stated_values(const Graph& graph) {
  std::vector<const Value*> values;
  const auto look = [&](const Value* v) {
    const auto is_output = [&](const Use& use) { return !use.node && use.graph == &graph; };
    if (v && v->is_declared && !v->is_input() && std::ranges::none_of(v->uses(), is_output)) values.push_back(v);
  };
  for (const Value* v : graph.initializers()) look(v);
  for (const Node& node : graph.nodes())
    for (std::size_t i = 0; i < node.output_count(); ++i) look(node.output(i));
  return values;
}

std::vector<const Value*> stated_function_values(const Graph& body) {
  std::vector<const Value*> values;
  const auto look = [&](const Value* v) {
    if (!v || !v->is_declared) return;
    if (v->type || v->type.notes || !v->doc_string.empty() || !v->metadata.empty() || !v->unknown.empty())
      values.push_back(v);
  };
  for (const Value* v : body.inputs()) look(v);
  for (const Node& node : body.nodes())
    for (std::size_t i = 0; i < node.output_count(); ++i) look(node.output(i));
  return values;
}

}  // namespace ingot::onnx
