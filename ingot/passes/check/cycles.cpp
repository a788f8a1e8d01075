// A cycle of nodes, to be shown to the user.
#include <unordered_map>

#include "ingot/passes/check/rules.h"

namespace ingot::passes::rules {
namespace {

/// The nodes of `graph` whose outputs the node reads, itself or in the graphs that it holds.
std::vector<const Node*> producers(const Node& node, const Graph& graph) {
  std::vector<const Node*> found;
  const auto read = [&](const Value* value) {
    if (value && value->producer() && &value->graph() == &graph) found.push_back(value->producer());
  };
  for (std::size_t i = 0; i < node.input_count(); ++i) read(node.input(i));
  const auto read_graph = [&](Graph& nested) {
    for (const Node& inner : nested.nodes())
      for (std::size_t i = 0; i < inner.input_count(); ++i) read(inner.input(i));
    for (std::size_t i = 0; i < nested.output_count(); ++i) read(nested.output(i));
  };
  for_each_subgraph(node, [&](Graph& held) { for_each_graph(held, read_graph); });
  return found;
}

}  // namespace

std::vector<const Node*> find_cycle(const Graph& graph) {
  enum class State : std::uint8_t { open, done };
  struct Frame {
    const Node* node;
    std::vector<const Node*> reads;
    std::size_t next = 0;
  };
  std::unordered_map<const Node*, State> states;
  for (const Node& root : graph.nodes()) {
    if (states.contains(&root)) continue;
    std::vector<Frame> path;
    path.push_back({&root, producers(root, graph)});
    states[&root] = State::open;
    while (!path.empty()) {
      Frame& frame = path.back();
      if (frame.next == frame.reads.size()) {
        states[frame.node] = State::done;
        path.pop_back();
        continue;
      }
      const Node* read = frame.reads[frame.next++];
      const auto known = states.find(read);
      if (known == states.end()) {
        states[read] = State::open;
        path.push_back({read, producers(*read, graph)});
      } else if (known->second == State::open) {
        // The path leads from readers to what they read: backwards it follows the data.
        std::vector<const Node*> cycle{read};
        for (std::size_t i = path.size(); i-- > 0 && path[i].node != read;) cycle.push_back(path[i].node);
        cycle.push_back(read);
        return cycle;
      }
    }
  }
  return {};
}

}  // namespace ingot::passes::rules
