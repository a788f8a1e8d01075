// Recurrent cells that a graph spells out as a loop over steps.
#include "ingot/passes/recurrent_loops/recurrent_loops.h"

#include "ingot/ir/drop_unread.h"
#include "ingot/passes/recurrent_loops/cells.h"

namespace ingot::passes {
namespace {

bool replace(Node& node) {
  auto loop = recurrent_loops::SequenceLoop::find(node);
  if (!loop) return false;
  return replace_by_lstm(*loop) || replace_by_gru(*loop) || replace_by_rnn(*loop);
}

std::size_t recognise(Graph& graph) {
  std::vector<Node*> loops;
  for (Node& node : graph.nodes())
    if (node.is("Loop")) loops.push_back(&node);
  std::size_t count = 0;
  for (Node* loop : loops) count += replace(*loop);
  if (count) drop_unread(graph);  // what only the loops read
  return count;
}

}  // namespace

std::size_t recognise_recurrent_loops(Model& model) {
  std::size_t count = recognise(*model.graph);
  for (const auto& function : model.functions) count += recognise(*function->body);
  return count;
}

}  // namespace ingot::passes
