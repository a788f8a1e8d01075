// Trees as ai.onnx.ml stores them, before and since version 5.
#include "ingot/ops/ml/forest.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "ingot/base/error.h"

namespace ingot::ops {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

constexpr std::array<std::string_view, 6> kModes = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                    "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
constexpr std::size_t kMostItems = std::size_t{1} << 26;

[[noreturn]] void refuse(std::string message) { throw Error(Code::bad_attribute, std::move(message)); }

template <class T> const T& need(const Attributes& attributes, const std::string& name) {
  const T* values = attributes.get<T>(name);
  if (!values) refuse("attribute '" + name + "' is missing");
  return *values;
}

template <class T> const T& need(const Attributes& attributes, const std::string& name, std::size_t size) {
  const T& values = need<T>(attributes, name);
  if (values.size() != size) refuse("attribute '" + name + "' does not have the length of the others");
  return values;
}

/// Floats, or a tensor of the name with "_as_tensor".
std::vector<double> numbers(const Attributes& attributes, const std::string& name, std::size_t size, DType& elem) {
  std::vector<double> values;
  if (const auto* tensor = attributes.get<Tensor>(name + "_as_tensor")) {
    if (tensor->dtype() == DType::f64) elem = DType::f64;
    values = tensor->to_doubles();
  } else {
    const Floats& floats = need<Floats>(attributes, name);
    values.assign(floats.begin(), floats.end());
  }
  if (values.size() != size) refuse("attribute '" + name + "' does not have the length of the others");
  return values;
}

using Id = std::pair<std::int64_t, std::int64_t>;  // tree, node

void read_votes(const Attributes& attributes, const std::string& prefix, const std::map<Id, std::size_t>& by_id,
                Forest& forest) {
  const Ints& targets = need<Ints>(attributes, prefix + "_ids");
  const Ints& trees = need<Ints>(attributes, prefix + "_treeids", targets.size());
  const Ints& nodes = need<Ints>(attributes, prefix + "_nodeids", targets.size());
  const auto weights = numbers(attributes, prefix + "_weights", targets.size(), forest.elem);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto it = by_id.find({trees[i], nodes[i]});
    if (it == by_id.end()) refuse("a weight belongs to a node that does not exist");
    if (targets[i] < 0) refuse("attribute '" + prefix + "_ids' is negative");
    if (forest.items[it->second].is_leaf) forest.items[it->second].votes.push_back({targets[i], weights[i]});
  }
}

/// Every branch and leaf belongs to one place of one tree: no item has two parents or none above it at the end.
void check_trees(const Forest& forest, const std::vector<std::size_t>& parents) {
  std::size_t reached = 0;
  std::vector<std::size_t> open = forest.roots;
  while (!open.empty()) {
    const Forest::Item& item = forest.items[open.back()];
    open.pop_back();
    ++reached;
    if (!item.is_leaf) open.insert(open.end(), {item.yes, item.no});
  }
  if (reached != forest.items.size() || std::ranges::any_of(parents, [](std::size_t n) { return n > 1; }))
    refuse("the nodes form no trees");
}

}  // namespace

Forest::Votes Forest::votes_below(std::size_t root) const {
  Votes votes;
  std::size_t least = kMostItems;
  std::vector<std::size_t> open = {root};
  while (!open.empty()) {
    const Item& item = items[open.back()];
    open.pop_back();
    if (!item.is_leaf) {
      open.insert(open.end(), {item.yes, item.no});
      continue;
    }
    votes.most = std::max(votes.most, item.votes.size());
    least = std::min(least, item.votes.size());
  }
  votes.is_uneven = least != votes.most;
  return votes;
}

Forest read_forest(const Attributes& attributes, const std::string& prefix) {
  Forest forest;
  const Ints& trees = need<Ints>(attributes, "nodes_treeids");
  const std::size_t n = trees.size();
  const Ints& ids = need<Ints>(attributes, "nodes_nodeids", n);
  const Ints& features = need<Ints>(attributes, "nodes_featureids", n);
  const Ints& yes = need<Ints>(attributes, "nodes_truenodeids", n);
  const Ints& no = need<Ints>(attributes, "nodes_falsenodeids", n);
  const Strings& modes = need<Strings>(attributes, "nodes_modes", n);
  const auto splits = numbers(attributes, "nodes_values", n, forest.elem);
  const Ints* missing = attributes.get<Ints>("nodes_missing_value_tracks_true");
  if (missing && !missing->empty() && missing->size() != n)
    refuse("attribute 'nodes_missing_value_tracks_true' does not have the length of the others");

  std::map<Id, std::size_t> by_id;
  for (std::size_t i = 0; i < n; ++i)
    if (!by_id.emplace(Id(trees[i], ids[i]), i).second) refuse("a node of a tree is defined twice");
  forest.items.resize(n);
  std::vector<std::size_t> parents(n);
  for (std::size_t i = 0; i < n; ++i) {
    Forest::Item& item = forest.items[i];
    item.is_leaf = modes[i] == "LEAF";
    if (item.is_leaf) continue;
    const auto mode = std::ranges::find(kModes, modes[i]);
    if (mode == kModes.end()) refuse("attribute 'nodes_modes' holds '" + modes[i] + "'");
    item.mode = static_cast<std::uint8_t>(mode - kModes.begin());
    item.missing_goes_true = missing && !missing->empty() && (*missing)[i] != 0;
    item.feature = features[i];
    item.split = splits[i];
    const auto child = [&](std::int64_t id) {
      const auto it = by_id.find({trees[i], id});
      if (it == by_id.end()) refuse("a branch leads to a node that does not exist");
      ++parents[it->second];
      return it->second;
    };
    item.yes = child(yes[i]);
    item.no = child(no[i]);
  }
  for (std::size_t i = 0; i < n; ++i)
    if (parents[i] == 0) forest.roots.push_back(i);
  check_trees(forest, parents);
  std::map<std::int64_t, std::size_t> roots_of;
  for (const std::size_t root : forest.roots)
    if (++roots_of[trees[root]] > 1) refuse("a tree has two roots");
  read_votes(attributes, prefix, by_id, forest);
  return forest;
}

std::optional<Forest> read_ensemble(const Attributes& attributes) {
  Forest forest;
  const Tensor& splits = need<Tensor>(attributes, "nodes_splits");
  const Tensor& modes = need<Tensor>(attributes, "nodes_modes");
  const Tensor& weights = need<Tensor>(attributes, "leaf_weights");
  const auto n = static_cast<std::size_t>(splits.size());
  const Ints& features = need<Ints>(attributes, "nodes_featureids", n);
  const Ints& yes = need<Ints>(attributes, "nodes_truenodeids", n);
  const Ints& no = need<Ints>(attributes, "nodes_falsenodeids", n);
  const Ints& yes_leafs = need<Ints>(attributes, "nodes_trueleafs", n);
  const Ints& no_leafs = need<Ints>(attributes, "nodes_falseleafs", n);
  const Ints& targets = need<Ints>(attributes, "leaf_targetids", static_cast<std::size_t>(weights.size()));
  const Ints& roots = need<Ints>(attributes, "tree_roots");
  const Ints* missing = attributes.get<Ints>("nodes_missing_value_tracks_true");
  if (missing && !missing->empty() && missing->size() != n) refuse("the attributes of the nodes differ in length");
  if (static_cast<std::size_t>(modes.size()) != n) refuse("the attributes of the nodes differ in length");
  forest.elem = splits.dtype();
  const auto split_values = splits.to_doubles(), leaf_weights = weights.to_doubles();
  const auto mode_values = modes.to_ints();

  // Depth first from each root: what is reached twice is shared, which the older form cannot say.
  std::vector<std::size_t> place(n, kMostItems);
  const auto at = [](std::int64_t i, std::size_t size) {
    if (i < 0 || static_cast<std::size_t>(i) >= size) refuse("a branch leads to a node that does not exist");
    return static_cast<std::size_t>(i);
  };
  std::vector<std::size_t> open;
  bool is_shared = false;
  const auto branch = [&](std::size_t i) {
    if (place[i] != kMostItems) {
      is_shared = true;
      return place[i];
    }
    place[i] = forest.items.size();
    forest.items.emplace_back();
    open.push_back(i);
    return place[i];
  };
  const auto leaf = [&](std::size_t i) {
    if (targets[i] < 0) refuse("attribute 'leaf_targetids' is negative");
    Forest::Item item;
    item.is_leaf = true;
    item.votes = {{targets[i], leaf_weights[i]}};
    forest.items.push_back(std::move(item));
    return forest.items.size() - 1;
  };
  for (const std::int64_t root : roots) {
    forest.roots.push_back(branch(at(root, n)));
    while (!open.empty() && !is_shared) {
      const std::size_t i = open.back();
      open.pop_back();
      if (mode_values[i] < 0 || mode_values[i] >= static_cast<std::int64_t>(kModes.size())) return std::nullopt;
      Forest::Item item;
      item.mode = static_cast<std::uint8_t>(mode_values[i]);
      item.feature = features[i];
      item.split = split_values[i];
      item.missing_goes_true = missing && !missing->empty() && (*missing)[i] != 0;
      item.yes = yes_leafs[i] ? leaf(at(yes[i], targets.size())) : branch(at(yes[i], n));
      item.no = no_leafs[i] ? leaf(at(no[i], targets.size())) : branch(at(no[i], n));
      forest.items[place[i]] = item;
    }
    if (is_shared) return std::nullopt;
  }
  return forest;
}

namespace {

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
    if (features.size() > kMostItems) refuse("the trees are too large to be repeated for each of their targets");
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
      const auto [source, place] = open.back();
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
      modes.emplace_back(item.is_leaf ? "LEAF" : kModes[item.mode]);
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
