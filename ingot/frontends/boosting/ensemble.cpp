// Trees of any library as TreeEnsemble.
#include "ingot/frontends/boosting/ensemble.h"

#include <cmath>
#include <limits>
#include <utility>

#include "ingot/base/error.h"

namespace ingot::frontends::boosting {
namespace {

using formats::boosting::Tree;
using formats::boosting::TreeNode;
using Rule = TreeNode::Rule;

constexpr std::size_t kMostNodes = std::size_t{1} << 26;
constexpr std::uint8_t kModes[] = {0, 1, 3, 6};  // of TreeEnsemble, by Rule

/// The float by which every float is told apart as by the double itself.
double rounded(double split, Rule rule) {
  const auto nearest = static_cast<float>(split);
  if (std::isnan(nearest) || nearest == split) return nearest;
  // x <= s and x > s part at the largest float below s, x < s at the smallest above it.
  const bool wants_above = rule == Rule::less;
  if (wants_above) return nearest > split ? nearest : std::nextafter(nearest, HUGE_VALF);
  return nearest < split ? nearest : std::nextafter(nearest, -HUGE_VALF);
}

class Writer {
 public:
  explicit Writer(DType elem) : elem_(elem) {}

  /// `value_of(node number)` gives a leaf's value.
  template <class ValueOf> void add(const Tree& tree, std::int64_t target, const ValueOf& value_of) {
    roots_.push_back(std::ssize(features_));
    if (tree.nodes[0].rule == Rule::leaf) {  // a tree of one leaf: both sides of a branch lead to it
      add_branch({.rule = Rule::at_most});
      yes_.back() = no_.back() = add_leaf(target, value_of(0));
      yes_leafs_.back() = no_leafs_.back() = 1;
      return;
    }
    struct Open {
      std::size_t node;
      std::size_t place;
    };
    std::vector<Open> open = {{0, features_.size()}};
    add_branch(tree.nodes[0]);
    while (!open.empty()) {
      const Open at = open.back();
      open.pop_back();
      const TreeNode& node = tree.nodes[at.node];
      for (const bool is_yes : {false, true}) {
        const auto child = static_cast<std::size_t>(is_yes ? node.yes : node.no);
        const bool is_leaf = tree.nodes[child].rule == Rule::leaf;
        const std::int64_t place = is_leaf ? add_leaf(target, value_of(child)) : std::ssize(features_);
        (is_yes ? yes_ : no_)[at.place] = place;
        (is_yes ? yes_leafs_ : no_leafs_)[at.place] = is_leaf ? 1 : 0;
        if (is_leaf) continue;
        open.push_back({child, features_.size()});
        add_branch(tree.nodes[child]);
      }
    }
  }

  /// Room for what will be added: arrays of hundreds of megabytes that grow would be there twice.
  void reserve(std::size_t branches, std::size_t leaves) {
    branches = std::min(branches, kMostNodes);
    leaves = std::min(leaves, kMostNodes);
    for (std::vector<std::int64_t>* list : {&features_, &yes_, &no_, &yes_leafs_, &no_leafs_}) list->reserve(branches);
    splits_.reserve(branches);
    modes_.reserve(branches);
    targets_.reserve(leaves);
    weights_.reserve(leaves);
  }

  /// Gives its arrays away, to the node itself: a builder would copy them.
  Value* node(GraphBuilder& g, Value* x, std::int64_t targets) {
    Value* sums = g.op("TreeEnsemble", {x}, {{"n_targets", targets}, {"aggregate_function", 1}});
    Attributes& to = sums->producer()->attributes;
    const auto give = [&](const char* name, auto& list) { to.append(Attribute(name, std::exchange(list, {}))); };
    const auto give_numbers = [&](const char* name, std::vector<double>& list) {
      to.append(Attribute(name, numbers(std::exchange(list, {}))));
    };
    give("nodes_featureids", features_);
    give_numbers("nodes_splits", splits_);
    to.append(Attribute("nodes_modes", Tensor::of<std::uint8_t>({std::ssize(modes_)}, modes_)));
    give("nodes_truenodeids", yes_);
    give("nodes_falsenodeids", no_);
    give("nodes_trueleafs", yes_leafs_);
    give("nodes_falseleafs", no_leafs_);
    give("leaf_targetids", targets_);
    give_numbers("leaf_weights", weights_);
    give("tree_roots", roots_);
    if (!missing_.empty()) give("nodes_missing_value_tracks_true", missing_);
    if (!members_.empty()) give_numbers("membership_values", members_);
    return sums;
  }

  bool empty() const { return roots_.empty(); }

 private:
  Tensor numbers(std::vector<double> values) const {
    const Dims dims = {std::ssize(values)};
    if (elem_ != DType::f64) return Tensor::of<float>(dims, std::vector<float>(values.begin(), values.end()));
    const auto kept = std::make_shared<const std::vector<double>>(std::move(values));
    return Tensor(elem_, dims, Bytes(kept, reinterpret_cast<const std::byte*>(kept->data()), kept->size() * 8));
  }
  void add_branch(const TreeNode& node) {
    if (features_.size() >= kMostNodes) throw Error(Code::node_limit, "the trees have too many nodes");
    features_.push_back(node.feature);
    splits_.push_back(elem_ == DType::f64 ? node.threshold : rounded(node.threshold, node.rule));
    modes_.push_back(kModes[static_cast<std::size_t>(node.rule)]);
    // As a rule there are none, and a list of zeros would be as large as the others.
    if (node.missing_goes_yes && missing_.empty()) missing_.resize(features_.size() - 1);
    if (node.missing_goes_yes || !missing_.empty()) missing_.push_back(node.missing_goes_yes ? 1 : 0);
    for (std::vector<std::int64_t>* list : {&yes_, &no_, &yes_leafs_, &no_leafs_}) list->push_back(0);
    if (node.rule != Rule::member) return;
    members_.insert(members_.end(), node.values.begin(), node.values.end());
    members_.push_back(std::numeric_limits<double>::quiet_NaN());
  }
  std::int64_t add_leaf(std::int64_t target, double value) {
    targets_.push_back(target);
    weights_.push_back(value);
    return std::ssize(targets_) - 1;
  }

  DType elem_;
  std::vector<std::int64_t> features_, yes_, no_, yes_leafs_, no_leafs_, missing_, targets_, roots_;
  std::vector<double> splits_, weights_, members_;
  std::vector<std::uint8_t> modes_;
};

}  // namespace

struct TreeSums::State {
  Writer writer;
  std::size_t count = 0, width = 0;
};

TreeSums::TreeSums(DType elem) : state_(new State{Writer(elem)}) {}
TreeSums::~TreeSums() = default;
std::size_t TreeSums::count() const { return state_->count; }
std::size_t TreeSums::width() const { return state_->width; }

void TreeSums::reserve(std::size_t branches, std::size_t leaves) { state_->writer.reserve(branches, leaves); }

void TreeSums::add(const Tree& tree) {
  std::size_t width = 1;
  for (const TreeNode& node : tree.nodes)
    if (node.rule == Rule::leaf) width = std::max(width, node.values.size());
  for (std::size_t i = 0; i < width; ++i)
    state_->writer.add(tree, width > 1 ? static_cast<std::int64_t>(i) : tree.group,
                       [&](std::size_t node) { return tree.nodes[node].values[i] * tree.weight; });
  state_->width = std::max(state_->width, width);
  ++state_->count;
}

Value* TreeSums::finish(GraphBuilder& g, Value* x, std::int64_t groups) {
  if (state_->writer.empty()) throw Error(Code::bad_source_graph, "the model has no trees");
  return state_->writer.node(g, x, groups);
}

Value* tree_sums(GraphBuilder& g, Value* x, std::span<const Tree> trees, std::int64_t groups) {
  TreeSums sums(x->type.elem);
  std::size_t branches = 0, leaves = 0;
  for (const Tree& tree : trees) {
    branches += tree.nodes.size() / 2 + 1;
    leaves += tree.nodes.size() / 2 + 1;
  }
  sums.reserve(branches, leaves);
  for (const Tree& tree : trees) sums.add(tree);
  return sums.finish(g, x, groups);
}

Value* tree_leaves(GraphBuilder& g, Value* x, std::span<const Tree> trees) {
  Writer writer(x->type.elem);
  std::int64_t target = 0;
  for (const Tree& tree : trees) writer.add(tree, target++, [](std::size_t node) { return static_cast<double>(node); });
  if (writer.empty()) throw Error(Code::bad_source_graph, "the model has no trees");
  return g.cast(writer.node(g, x, target), DType::i64);
}

}  // namespace ingot::frontends::boosting
