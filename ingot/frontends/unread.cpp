// What nobody reads.
#include "ingot/frontends/unread.h"

#include <algorithm>

namespace ingot::frontends {

void drop_unread(Graph& root) {
  std::vector<Graph*> graphs;
  for_each_graph(root, [&](Graph& graph) { graphs.push_back(&graph); });
  for (auto graph = graphs.rbegin(); graph != graphs.rend(); ++graph) {  // inner ones first: they read outer values
    for (Node* node = (*graph)->last(); node;) {
      Node* previous = node->previous();
      const auto is_read = [](Value* v) { return v && !v->uses().empty(); };
      if (std::ranges::none_of(node->outputs(), is_read)) (*graph)->erase(node);
      node = previous;
    }
  }
  for_each_graph(root, [](Graph& graph) {
    graph.erase_initializers_if([](const Value& v) { return v.uses().empty() && !v.is_input(); });
  });
}

void drop_unread(Model& model) {
  for (const TrainingInfo& info : model.training)
    for (Graph* graph : {info.algorithm.get(), info.initialization.get()})
      if (graph) drop_unread(*graph);
  drop_unread(*model.graph);
}

}  // namespace ingot::frontends
