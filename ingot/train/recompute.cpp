// Activations computed twice instead of kept: the square root of the memory for one more forward pass.
#include "ingot/train/recompute.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/ops/generator/random.h"

namespace ingot::train {
namespace {

bool has_subgraph(const Node& node) {
  bool found = false;
  for_each_subgraph(node, [&](Graph&) { found = true; });
  return found;
}

}  // namespace

std::size_t recompute_activations(Graph& graph, const Node* last_forward) {
  std::vector<Node*> forward, backward;
  std::vector<Node*>* now = &forward;
  for (Node& node : graph.nodes()) {
    now->push_back(&node);
    if (&node == last_forward) now = &backward;
  }
  if (forward.size() < 4 || backward.empty()) return 0;
  const auto stretches = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(forward.size()))));
  const std::size_t length = (forward.size() + stretches - 1) / stretches;
  std::unordered_map<const Node*, std::size_t> stretch_of;
  for (std::size_t i = 0; i < forward.size(); ++i) stretch_of[forward[i]] = i / length;

  // What later stretches or subgraphs read, random draws and outputs of the graph stay.
  std::unordered_set<const Value*> kept;
  for (const Node* node : forward) {
    for (const Value* v : node->outputs()) {
      if (!v) continue;
      bool stays = ops::is_random(*node) || has_subgraph(*node);
      for (const Use& use : v->uses()) {
        if (!use.node || &use.node->graph() != &graph) stays = true;
        const auto reader = use.node ? stretch_of.find(use.node) : stretch_of.end();
        if (reader != stretch_of.end() && reader->second != stretch_of.at(node)) stays = true;
      }
      if (stays) kept.insert(v);
    }
  }
  std::size_t added = 0;
  std::vector<Graph::ValueMap> again((forward.size() + length - 1) / length);
  for (Node* reader : backward) {
    for (std::size_t i = 0; i < reader->input_count(); ++i) {
      const Value* v = reader->input(i);
      const auto at = v && v->producer() ? stretch_of.find(v->producer()) : stretch_of.end();
      if (at == stretch_of.end() || kept.contains(v)) continue;
      Graph::ValueMap& map = again[at->second];
      if (map.empty()) {
        // Values of other stretches are kept ones: the copies read those themselves.
        for (std::size_t k = at->second * length; k < std::min((at->second + 1) * length, forward.size()); ++k) {
          const Node& node = *forward[k];
          const auto is_needed = [&](const Value* out) { return out && !kept.contains(out); };
          if (std::ranges::none_of(node.outputs(), is_needed)) continue;
          Node* copy = graph.add_copy(node, map, reader, "recompute/");
          copy->name = copy->name.empty() ? copy->name : "recompute/" + copy->name;
          copy->metadata.emplace_back(kRecomputed, "1");
          for (std::size_t o = 0; o < copy->output_count(); ++o)
            if (copy->output(o)) copy->output(o)->type = node.output(o)->type;
          for (const Value* out : node.outputs())
            if (out && kept.contains(out)) map.erase(out);
          ++added;
        }
      }
      if (const auto found = map.find(v); found != map.end()) reader->set_input(i, found->second);
    }
  }
  return added;
}

}  // namespace ingot::train
