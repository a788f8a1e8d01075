// Nodes in the order in which they can run.
#include "ingot/passes/sort_nodes.h"

#include "ingot/base/error.h"

namespace ingot::passes {

void sort_nodes(Graph& graph) {
  for_each_graph(graph, [](Graph& g) {
    const auto order = topological_order(g);
    if (!order) throw Error(Code::cyclic_graph, "the nodes of graph '" + g.name + "' depend on each other");
    for (Node* node : *order) g.move_before(node, nullptr);
  });
}

}  // namespace ingot::passes
