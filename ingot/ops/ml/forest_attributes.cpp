// Writes trees as attributes of TreeEnsemble and of the operators before it.
#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/ops/ml/forest.h"

namespace ingot::ops {
namespace {

using Ints = std::vector<std::int64_t>;
using Strings = std::vector<std::string>;

Tensor tensor_of(const std::vector<double>& values, DType elem) {
  const Dims dims = {static_cast<std::int64_t>(values.size())};
  if (elem == DType::f64) return Tensor::of<double>(dims, values);
  return Tensor::of<float>(dims, std::vector<float>(values.begin(), values.end()));
}

/// Collects the arrays of TreeEnsemble, tree by tree.
struct EnsembleArrays {
  Ints features, yes, no, yes_leafs, no_leafs, missing, targets, roots;
  std::vector<std::uint8_t> modes;
  std::vector<double> splits, weights;
  bool has_missing = false;

  std::int64_t add_leaf(const Forest::Item& item, std::size_t vote) {
    const bool votes = vote < item.votes.size();
    targets.push_back(votes ? item.votes[vote].target : 0);
    weights.push_back(votes ? item.votes[vote].weight : 0);
    return static_cast<std::int64_t>(weights.size()) - 1;
  }

  std::int64_t add_branch(const Forest::Item& item) {
    features.push_back(item.feature);
    splits.push_back(item.split);
    modes.push_back(item.mode);
    missing.push_back(item.missing_goes_true);
    has_missing |= item.missing_goes_true;
    for (Ints* list : {&yes, &no, &yes_leafs, &no_leafs}) list->push_back(0);
    if (features.size() > kMostTreeItems)
      throw Error(Code::bad_attribute, "the trees are too large to be repeated for each of their targets");
    return static_cast<std::int64_t>(features.size()) - 1;
  }

  void add_tree(const Forest& forest, std::size_t root, std::size_t vote) {
    const Forest::Item& top = forest.items[root];
    // A tree that is one leaf becomes a branch with the same leaf on both sides.
    const std::int64_t first = add_branch(top.is_leaf ? Forest::Item() : top);
    roots.push_back(first);
    const auto at = static_cast<std::size_t>(first);
    if (top.is_leaf) {
      yes[at] = no[at] = add_leaf(top, vote);
      yes_leafs[at] = no_leafs[at] = 1;
      return;
    }
    std::vector<std::pair<std::size_t, std::size_t>> open = {{root, at}};
    while (!open.empty()) {
      const std::size_t source = open.back().first, place = open.back().second;
      open.pop_back();
      const auto attach = [&](std::size_t child, Ints& index, Ints& is_leaf) {
        const Forest::Item& item = forest.items[child];
        const std::int64_t made = item.is_leaf ? add_leaf(item, vote) : add_branch(item);
        index[place] = made;
        is_leaf[place] = item.is_leaf;
        if (!item.is_leaf) open.emplace_back(child, static_cast<std::size_t>(made));
      };
      attach(forest.items[source].yes, yes, yes_leafs);
      attach(forest.items[source].no, no, no_leafs);
    }
  }
};

}  // namespace

Attrs ensemble_attributes(const Forest& forest, DType elem) {
  EnsembleArrays a;
  for (const std::size_t root : forest.roots) {
    const std::size_t copies = std::max<std::size_t>(1, forest.votes_below(root).most);
    for (std::size_t vote = 0; vote < copies; ++vote) a.add_tree(forest, root, vote);
  }
  Attrs attrs = {{"nodes_featureids", a.features},
                 {"nodes_truenodeids", a.yes},
                 {"nodes_falsenodeids", a.no},
                 {"nodes_trueleafs", a.yes_leafs},
                 {"nodes_falseleafs", a.no_leafs},
                 {"tree_roots", a.roots},
                 {"leaf_targetids", a.targets},
                 {"leaf_weights", tensor_of(a.weights, elem)},
                 {"nodes_splits", tensor_of(a.splits, elem)},
                 {"nodes_modes", Tensor::of<std::uint8_t>({static_cast<std::int64_t>(a.modes.size())}, a.modes)}};
  if (a.has_missing) attrs.push_back({"nodes_missing_value_tracks_true", a.missing});
  return attrs;
}

Attrs forest_attributes(const Forest& forest, const std::string& prefix) {
  Ints trees, ids, features, yes, no, missing, targets, vote_trees, vote_nodes;
  Strings modes;
  std::vector<float> splits, weights;
  for (std::size_t t = 0; t < forest.roots.size(); ++t) {
    const auto tree = static_cast<std::int64_t>(t);
    // Numbered from the root on, level by level.
    std::vector<std::size_t> order = {forest.roots[t]};
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Forest::Item& item = forest.items[order[i]];
      trees.push_back(tree);
      ids.push_back(static_cast<std::int64_t>(i));
      features.push_back(item.feature);
      splits.push_back(static_cast<float>(item.split));
      missing.push_back(item.missing_goes_true);
      modes.emplace_back(item.is_leaf ? "LEAF" : kTreeModes[item.mode]);
      yes.push_back(item.is_leaf ? 0 : static_cast<std::int64_t>(order.size()));
      no.push_back(item.is_leaf ? 0 : static_cast<std::int64_t>(order.size()) + 1);
      if (!item.is_leaf) order.insert(order.end(), {item.yes, item.no});
      for (const Forest::Vote& vote : item.votes) {
        targets.push_back(vote.target);
        weights.push_back(static_cast<float>(vote.weight));
        vote_trees.push_back(tree);
        vote_nodes.push_back(static_cast<std::int64_t>(i));
      }
    }
  }
  // The names of votes outlive the call: there are two prefixes.
  const bool is_target = prefix == "target";
  return {{"nodes_treeids", trees},
          {"nodes_nodeids", ids},
          {"nodes_featureids", features},
          {"nodes_values", splits},
          {"nodes_modes", modes},
          {"nodes_truenodeids", yes},
          {"nodes_falsenodeids", no},
          {"nodes_missing_value_tracks_true", missing},
          {is_target ? "target_treeids" : "class_treeids", vote_trees},
          {is_target ? "target_nodeids" : "class_nodeids", vote_nodes},
          {is_target ? "target_ids" : "class_ids", targets},
          {is_target ? "target_weights" : "class_weights", weights}};
}

}  // namespace ingot::ops
