// Reads trees as ai.onnx.ml stores them, before and since version 5.
#include "ingot/ops/ml/forest.h"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <utility>

#include "ingot/base/error.h"

namespace ingot::ops {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

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

/// Where the node of a tree stands in the attributes.
class Places {
 public:
  Places(const Ints& trees, const Ints& ids) {
    for (std::size_t i = 0; i < trees.size(); ++i) entries_.push_back({trees[i], ids[i], i});
    // Converters write them in order.
    if (!std::ranges::is_sorted(entries_)) std::ranges::sort(entries_);
    const auto is_same = [](const Entry& a, const Entry& b) { return a.tree == b.tree && a.node == b.node; };
    if (std::ranges::adjacent_find(entries_, is_same) != entries_.end()) refuse("a node of a tree is defined twice");
  }

  /// Looks first where the node is if those of a tree are numbered without gaps and the one at `near` is as well.
  const std::size_t* find(std::int64_t tree, std::int64_t node, std::size_t near) const {
    const auto is_it = [&](const Entry& e) { return e.tree == tree && e.node == node; };
    if (near < entries_.size() && node >= 0) {
      const auto guess = near + static_cast<std::size_t>(node) - static_cast<std::size_t>(entries_[near].node);
      if (guess < entries_.size() && is_it(entries_[guess])) return &entries_[guess].place;
    }
    const auto it = std::ranges::lower_bound(entries_, Entry{tree, node, 0});
    return it != entries_.end() && is_it(*it) ? &it->place : nullptr;
  }

 private:
  struct Entry {
    std::int64_t tree, node;
    std::size_t place;
    auto operator<=>(const Entry&) const = default;
  };
  std::vector<Entry> entries_;
};

void read_votes(const Attributes& attributes, const std::string& prefix, const Places& places, Forest& forest) {
  const Ints& targets = need<Ints>(attributes, prefix + "_ids");
  const Ints& trees = need<Ints>(attributes, prefix + "_treeids", targets.size());
  const Ints& nodes = need<Ints>(attributes, prefix + "_nodeids", targets.size());
  const auto weights = numbers(attributes, prefix + "_weights", targets.size(), forest.elem);
  std::size_t near = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::size_t* place = places.find(trees[i], nodes[i], near);
    if (!place) refuse("a weight belongs to a node that does not exist");
    if (targets[i] < 0) refuse("attribute '" + prefix + "_ids' is negative");
    if (forest.items[*place].is_leaf) forest.items[*place].votes.push_back({targets[i], weights[i]});
    near = *place;
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

/// Visits the leaves below an item.
template <class Visit>
void for_each_leaf(const std::vector<Forest::Item>& items, std::size_t root, const Visit& visit) {
  std::vector<std::size_t> open = {root};
  while (!open.empty()) {
    const Forest::Item& item = items[open.back()];
    open.pop_back();
    if (item.is_leaf)
      visit(item);
    else
      open.insert(open.end(), {item.yes, item.no});
  }
}

}  // namespace

Forest::Votes Forest::votes_below(std::size_t root) const {
  Votes votes;
  std::size_t least = kMostTreeItems;
  for_each_leaf(items, root, [&](const Item& item) {
    votes.most = std::max(votes.most, item.votes.size());
    least = std::min(least, item.votes.size());
  });
  votes.is_uneven = least != votes.most;
  return votes;
}

bool Forest::reaches_all(std::int64_t targets) const {
  std::size_t votes = 0;
  for (const Item& item : items) votes += item.votes.size();
  if (std::cmp_less(votes, targets)) return false;
  std::vector<bool> is_reached(static_cast<std::size_t>(targets));
  for (const std::size_t root : roots) {
    std::map<std::int64_t, std::size_t> voting;  // leaves by target
    std::size_t leaves = 0;
    for_each_leaf(items, root, [&](const Item& item) {
      ++leaves;
      std::set<std::int64_t> of_leaf;
      for (const Vote& vote : item.votes)
        if (of_leaf.insert(vote.target).second) ++voting[vote.target];
    });
    for (const auto& [target, count] : voting)
      if (count == leaves && target < targets) is_reached[static_cast<std::size_t>(target)] = true;
  }
  return std::ranges::all_of(is_reached, [](bool reached) { return reached; });
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

  const Places places(trees, ids);
  forest.items.resize(n);
  std::vector<std::size_t> parents(n);
  for (std::size_t i = 0; i < n; ++i) {
    Forest::Item& item = forest.items[i];
    item.is_leaf = modes[i] == "LEAF";
    if (item.is_leaf) continue;
    const auto mode = std::ranges::find(kTreeModes, modes[i]);
    if (mode == kTreeModes.end()) refuse("attribute 'nodes_modes' holds '" + modes[i] + "'");
    item.mode = static_cast<std::uint8_t>(mode - kTreeModes.begin());
    item.missing_goes_true = missing && !missing->empty() && (*missing)[i] != 0;
    item.feature = features[i];
    item.split = splits[i];
    const auto child = [&](std::int64_t id) {
      const std::size_t* place = places.find(trees[i], id, i);
      if (!place) refuse("a branch leads to a node that does not exist");
      ++parents[*place];
      return *place;
    };
    item.yes = child(yes[i]);
    item.no = child(no[i]);
  }
  for (std::size_t i = 0; i < n; ++i)
    if (parents[i] == 0) forest.roots.push_back(i);
  check_trees(forest, parents);
  Ints rooted;
  for (const std::size_t root : forest.roots) rooted.push_back(trees[root]);
  std::ranges::sort(rooted);
  if (std::ranges::adjacent_find(rooted) != rooted.end()) refuse("a tree has two roots");
  read_votes(attributes, prefix, places, forest);
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
  forest.items.reserve(n + targets.size());
  const auto split_values = splits.to_doubles(), leaf_weights = weights.to_doubles();
  const auto mode_values = modes.to_ints();

  // Depth first from each root: what is reached twice is shared, which the older form cannot say.
  std::vector<std::size_t> place(n, kMostTreeItems);
  const auto at = [](std::int64_t i, std::size_t size) {
    if (i < 0 || static_cast<std::size_t>(i) >= size) refuse("a branch leads to a node that does not exist");
    return static_cast<std::size_t>(i);
  };
  std::vector<std::size_t> open;
  bool is_shared = false;
  const auto branch = [&](std::size_t i) {
    if (place[i] != kMostTreeItems) {
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
      if (mode_values[i] < 0 || mode_values[i] >= static_cast<std::int64_t>(kTreeModes.size())) return std::nullopt;
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

}  // namespace ingot::ops
