// One value in the place of another.
#include "ingot/passes/hand_over.h"

#include <utility>

namespace ingot::passes {

void hand_over(const std::vector<Use>& readers, Value* from, Value* to) {
  bool is_output = false;
  for (const Use& use : readers) {
    use.node ? use.node->set_input(use.index, to) : use.graph->set_output(use.index, to);
    is_output |= !use.node;
  }
  if (!is_output) return;
  Graph& graph = from->graph();
  std::string name = from->name();
  graph.rename(from, graph.fresh_name(name));
  graph.rename(to, std::move(name));
  to->is_declared = std::exchange(from->is_declared, false);
  to->doc_string = std::exchange(from->doc_string, {});
  to->metadata = std::exchange(from->metadata, {});
}

}  // namespace ingot::passes
