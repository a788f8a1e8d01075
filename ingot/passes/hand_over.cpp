// One value in the place of another.
#include "ingot/passes/hand_over.h"

#include <utility>

namespace ingot::passes {

void hand_over(Value* from, Value* to, const std::vector<Use>& uses) {
  bool is_output = false;
  for (const Use& use : uses) {
    if (use.node)
      use.node->set_input(use.index, to);
    else
      use.graph->set_output(use.index, to);
    is_output |= !use.node && use.graph == &from->graph();
  }
  if (!is_output || from->is_input()) return;
  Graph& graph = from->graph();
  std::string name = from->name();
  graph.rename(from, graph.fresh_name(name));
  graph.rename(to, std::move(name));
  to->is_declared = std::exchange(from->is_declared, false);
  to->doc_string = std::exchange(from->doc_string, {});
  to->metadata = std::exchange(from->metadata, {});
}

}  // namespace ingot::passes
