// What bodies of branches and loops read from outside.
#include "ingot/backends/captured.h"

#include <algorithm>
#include <unordered_set>

#include "ingot/ops/infer.h"

namespace ingot::backends {

void collect_captured(Graph& root, std::vector<const Value*>& captured) {
  std::unordered_set<const Graph*> inside;
  for_each_graph(root, [&](Graph& g) { inside.insert(&g); });
  const auto note = [&](const Value* v) {
    if (v && !inside.contains(&v->graph()) && !ops::constant_of(v) && std::ranges::find(captured, v) == captured.end())
      captured.push_back(v);
  };
  for_each_graph(root, [&](Graph& g) {
    for (const Node& node : g.nodes())
      for (const Value* v : node.inputs()) note(v);
    for (const Value* v : g.outputs()) note(v);
  });
}

}  // namespace ingot::backends
