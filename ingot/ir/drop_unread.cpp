// What nobody reads goes.
#include "ingot/ir/drop_unread.h"

#include <algorithm>

namespace ingot {

std::size_t drop_unread(Graph& graph, const std::function<bool(const Value&)>& keeps) {
  const auto order = topological_order(graph);
  if (!order) return 0;
  const auto is_unread = [&](const Value* v) { return !v || (v->uses().empty() && !(keeps && keeps(*v))); };
  std::size_t count = 0;
  for (std::size_t i = order->size(); i-- > 0;) {
    Node& node = *(*order)[i];
    if (std::ranges::all_of(node.outputs(), is_unread)) {
      graph.erase(&node);
      ++count;
    } else {
      for_each_subgraph(node, [&](Graph& g) { count += drop_unread(g, keeps); });
    }
  }
  graph.erase_initializers_if([&](const Value& v) { return is_unread(&v) && !v.is_input(); });
  return count;
}

void drop_unread(Model& model) {
  for (const TrainingInfo& info : model.training)
    for (Graph* graph : {info.algorithm.get(), info.initialization.get()})
      if (graph) drop_unread(*graph);
  drop_unread(*model.graph);
}

}  // namespace ingot
