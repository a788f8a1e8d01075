// Constants as weights.
#include "ingot/passes/store_constants.h"

#include <algorithm>

#include "ingot/ops/generator/constant.h"

namespace ingot::passes {
namespace {

void store(Graph& graph, Node& node) {
  Value* made = node.output_count() == 1 ? node.output(0) : nullptr;
  if (!made || std::ranges::any_of(made->uses(), [](const Use& use) { return !use.node; })) return;
  ops::spell_out_constant(node);
  const Tensor* value = node.attributes.get<Tensor>("value");
  if (!value) return;
  std::string name = made->name();
  graph.rename(made, graph.fresh_name(name));
  Value* weight = graph.add_initializer(std::move(name), *value);
  weight->type = value->type();
  weight->doc_string = made->doc_string;
  weight->metadata = made->metadata;
  graph.replace_all_uses(made, weight);
  graph.erase(&node);
}

}  // namespace

void store_constants(Graph& root) {
  for_each_graph(root, [](Graph& graph) {
    if (graph.is_function_body) return;
    for (Node& node : graph.nodes())
      if (node.is("Constant")) store(graph, node);
  });
}

}  // namespace ingot::passes
