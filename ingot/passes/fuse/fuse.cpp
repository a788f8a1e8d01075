// Fusions stage by stage, each until nothing changes.
#include "ingot/passes/fuse/fuse.h"

#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/passes/fuse/fusions.h"
#include "ingot/passes/optimize/equal_nodes.h"

namespace ingot::passes {
namespace {

constexpr int kMostRounds = 8;

// What a later stage would take apart comes first: the scores of an attention are products too.
constexpr std::span<const fuse::Fusion> (*const kStages[])() = {
    fuse::shape_fusions,
    fuse::gelu_fusions,
    fuse::rotary_fusions,
    fuse::attention_fusions,
    fuse::quantized_attention_fusions,
    fuse::packed_attention_fusions,
    fuse::normalization_fusions,
    fuse::bias_fusions,
    fuse::quantized_fusions,
    fuse::block_fusions,
    fuse::product_fusions,
    fuse::activation_fusions,
};

using Counts = std::vector<std::pair<std::string, std::size_t>>;

void note(Counts& counts, std::string_view made) {
  const auto found = std::ranges::find(counts, made, [](const auto& row) { return std::string_view(row.first); });
  if (found == counts.end())
    counts.emplace_back(made, 1);
  else
    ++found->second;
}

bool run_stage(Graph& graph, std::span<const fuse::Fusion> fusions, Counts& counts) {
  std::vector<Node*> nodes;
  for (Node& node : graph.nodes()) nodes.push_back(&node);
  bool changed = false;
  for (Node* node : nodes)
    for (const fuse::Fusion& fusion : fusions) {
      if (!node->is(fusion.op, fusion.domain) || !node->output(0) || !node->output(0)->type) continue;
      if (!fusion.apply(*node)) continue;
      if (!fusion.made.empty()) note(counts, fusion.made);
      changed = true;
      break;  // the node may be gone
    }
  drop_unread(graph);
  if (changed) share_equal(graph);
  return changed;
}

}  // namespace

Counts fuse_for_onnx_runtime(Model& model, Budget* budget) {
  Counts counts;
  for_each_graph(*model.graph, [&](Graph& graph) {
    for (const auto stage : kStages)
      for (int round = 0; round < kMostRounds; ++round) {
        if (budget) budget->poll();
        if (!run_stage(graph, stage(), counts)) break;
      }
  });
  if (!counts.empty()) model.opsets.set(std::string(fuse::kMicrosoft), 1);
  return counts;
}

}  // namespace ingot::passes
