// What must hold of a boosted model before anyone relies on it.
#include <fmt/format.h>

#include "ingot/base/error.h"
#include "ingot/formats/boosting/model.h"

namespace ingot::formats::boosting {
namespace {

[[noreturn]] void refuse(std::size_t tree, const char* why) {
  throw Error(Code::bad_reference, fmt::format("tree {} {}", tree, why));
}

/// Every node that is reached is reached once: no circles, nothing shared.
void check_tree(const Tree& tree, std::size_t number, std::int64_t features, std::int64_t groups) {
  if (tree.nodes.empty()) refuse(number, "has no nodes");
  std::vector<bool> is_reached(tree.nodes.size());
  std::vector<std::int32_t> open = {0};
  while (!open.empty()) {
    const auto at = static_cast<std::size_t>(open.back());
    open.pop_back();
    if (is_reached[at]) refuse(number, "goes round in circles");
    is_reached[at] = true;
    const TreeNode& node = tree.nodes[at];
    if (node.rule == TreeNode::Rule::leaf) {
      if (node.values.size() != 1 && std::cmp_not_equal(node.values.size(), groups))
        refuse(number, "has a leaf of the wrong width");
      continue;
    }
    if (node.feature < 0 || node.feature >= features) refuse(number, "asks for a feature that does not exist");
    for (const std::int32_t child : {node.yes, node.no}) {
      if (child < 0 || std::cmp_greater_equal(child, tree.nodes.size()))
        refuse(number, "leads to a node that does not exist");
      open.push_back(child);
    }
  }
}

}  // namespace

void check(const Model& model) {
  constexpr std::int64_t kMostFeatures = 10'000'000;
  if (model.features > kMostFeatures)
    throw Error(Code::bad_source_graph,
                fmt::format("the model has {} features; 10,000,000 are the most", model.features));
  if (model.groups < 1 || model.groups > 1'000'000 || model.features < 0)
    throw Error(Code::bad_source_graph, "the model has no outputs or a negative number of features");
  for (std::size_t i = 0; i < model.trees.size(); ++i) {
    check_tree(model.trees[i], i, model.features, model.groups);
    if (model.trees[i].group < 0 || model.trees[i].group >= model.groups)
      refuse(i, "belongs to an output that does not exist");
  }
  if (!model.base.empty() && std::cmp_not_equal(model.base.size(), model.groups))
    throw Error(Code::bad_source_graph, "the model does not have one base score per output");
  if (!model.weights.empty() && std::cmp_not_equal(model.weights.size(), (model.features + 1) * model.groups))
    throw Error(Code::bad_source_graph, "the linear model does not have one weight per feature and output");
}

}  // namespace ingot::formats::boosting
