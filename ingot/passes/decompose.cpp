// Replaces operators by their own definitions in simpler operators.
#include "ingot/passes/decompose.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/well_formed.h"

namespace ingot::passes {
namespace {

// A decomposition may use operators that decompose in turn; a circle would be a bug in the catalogue, but must end.
constexpr int kDeepest = 16;

std::size_t decompose_from(Node& node, const std::function<bool(const Node&)>& is_native, int depth) {
  for_each_subgraph(node, [&](Graph& g) { decompose(g, is_native); });
  if (is_native(node) || depth == kDeepest) return 0;
  Graph& graph = node.graph();
  Node *before = node.previous(), *after = node.next();
  if (!decompose_node(node)) return 0;
  std::size_t count = 1;
  for (Node* n = before ? before->next() : graph.first(); n && n != after;) {
    Node* next = n->next();
    count += decompose_from(*n, is_native, depth + 1);
    n = next;
  }
  return count;
}

}  // namespace

bool decompose_node(Node& node) {
  const ops::OpDef* def = ops::find(node);
  if (!def || !def->decompose) return false;
  ops::require_well_formed(node);
  Graph& graph = node.graph();
  Node* before = node.previous();
  GraphBuilder builder(graph, &node);
  builder.name_after(node);
  ops::DecomposeContext context(builder, node);
  const auto take_back = [&] {  // what a refused attempt left behind
    for (Node* n = node.previous(); n != before;) {
      Node* previous = n->previous();
      graph.erase(n);
      n = previous;
    }
  };
  Values made;
  try {
    made = def->decompose(context);
  } catch (Error& error) {
    take_back();
    error.in_node(node.name, node.op, node.label());
    throw;
  }
  made.resize(made.empty() ? 0 : std::max(made.size(), node.output_count()));
  const auto is_missing = [&](const Value* old) { return old && !old->uses().empty() && !made[old->output_index()]; };
  // A body may know some of the outputs only, or none.
  if (made.empty() || std::ranges::any_of(node.outputs(), is_missing)) {
    take_back();
    return false;
  }
  replace_node(node, made);
  return true;
}

std::size_t decompose(Graph& graph, const std::function<bool(const Node&)>& is_native) {
  std::size_t count = 0;
  for (Node& node : graph.nodes()) count += decompose_from(node, is_native, 0);
  return count;
}

std::size_t decompose(Model& model, const std::function<bool(const Node&)>& is_native) {
  std::size_t count = decompose(*model.graph, is_native);
  for (const auto& f : model.functions) count += decompose(*f->body, is_native);
  for (const TrainingInfo& t : model.training) {
    if (t.initialization) count += decompose(*t.initialization, is_native);
    if (t.algorithm) count += decompose(*t.algorithm, is_native);
  }
  return count;
}

}  // namespace ingot::passes
