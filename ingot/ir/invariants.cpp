// The invariants of the IR itself, which every pass must leave intact.
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/ir/model.h"

namespace ingot {
namespace {

[[noreturn]] void broken(const Graph& graph, const std::string& what) {
  throw Error(Code::broken_invariant, "graph '" + graph.name + "': " + what)
      .hint("this is a bug in Ingot; please report it with the command that led here");
}

bool sees(const Graph* inner, const Graph* outer) {
  for (; inner; inner = inner->parent())
    if (inner == outer) return true;
  return false;
}

void check_use(const Graph& graph, const Value* value, const Use& expected) {
  if (!sees(&graph, &value->graph())) broken(graph, "'" + value->name() + "' is read out of its scope");
  std::size_t found = 0;
  // Long lists are sampled: a check of every use of a value with 100,000 readers would be quadratic.
  if (value->uses().size() > 64) return;
  for (const Use& use : value->uses())
    if (use.node == expected.node && use.graph == expected.graph && use.index == expected.index) ++found;
  if (found != 1) broken(graph, "the uses of '" + value->name() + "' are out of step with its readers");
}

void verify_one(Graph& graph) {
  std::size_t count = 0;
  const Node* previous = nullptr;
  for (Node& node : graph.nodes()) {
    ++count;
    if (&node.graph() != &graph || node.previous() != previous) broken(graph, node.label() + " is not linked in");
    previous = &node;
    for (std::size_t i = 0; i < node.input_count(); ++i)
      if (node.input(i)) check_use(graph, node.input(i), {&node, &graph, static_cast<std::uint32_t>(i)});
    for (std::size_t i = 0; i < node.output_count(); ++i) {
      const Value* v = node.output(i);
      if (v && (v->producer() != &node || v->output_index() != i || &v->graph() != &graph))
        broken(graph, "output '" + v->name() + "' does not know its node");
    }
    for_each_subgraph(node, [&](Graph& inner) {
      if (inner.parent() != &graph) broken(graph, node.label() + " holds a graph with another parent");
    });
  }
  if (count != graph.node_count() || graph.last() != previous) broken(graph, "the list of nodes is damaged");
  for (std::size_t i = 0; i < graph.output_count(); ++i) {
    if (!graph.output(i)) broken(graph, "output " + std::to_string(i) + " is empty");
    check_use(graph, graph.output(i), {nullptr, &graph, static_cast<std::uint32_t>(i)});
  }
  std::unordered_set<const Value*> seen;
  for (const Value* v : graph.inputs())
    if (!v->is_input() || &v->graph() != &graph || !seen.insert(v).second) broken(graph, "an input is damaged");
  for (const Value* v : graph.initializers())
    if (!v->initializer && !v->sparse_initializer) broken(graph, "initializer '" + v->name() + "' has no value");
}

}  // namespace

void check_invariants(const Graph& graph) { for_each_graph(const_cast<Graph&>(graph), verify_one); }

void check_invariants(const Model& model) {
  for (const GraphPlace& place : all_graphs(model)) verify_one(*place.graph);
}

}  // namespace ingot
