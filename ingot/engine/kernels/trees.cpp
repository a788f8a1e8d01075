// Forests: small nodes in one array per forest, several rows down a tree at once.
#include <limits>

#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/plain_forest.h"
#include "ingot/engine/kernels/ranked_trees.h"

namespace ingot::engine {
namespace {

/// A node asks whether value <= split; where it does not hold, the walk goes to what stands behind `next`. The split of
/// a leaf is no number, which never holds, and its `next` stands before it, so that it leads to itself: the way down has
/// no test for leaves.
template <class Scalar> struct WideNode {
  Scalar split = std::numeric_limits<Scalar>::quiet_NaN();
  std::uint32_t column = 0;  // where its values of kForestRows rows begin
  std::uint32_t next = 0;    // among the nodes of its tree
  static constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
};

/// The same in one load, for trees and tables of the usual size.
struct SmallNode {
  float split = std::numeric_limits<float>::quiet_NaN();
  std::uint16_t column = 0, next = 0;
  static constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
};

template <class Types, class Node> class Trees final : public ForestNode<Types> {
 public:
  using Plain = PlainForest<Types>;
  using Scalar = typename Types::Scalar;
  explicit Trees(const Plain& forest) : ForestNode<Types>(forest), votes_(forest) {
    for (const auto& tree : forest.trees) add_tree(forest, tree);
  }

 private:
  struct Tree {
    std::size_t first;  // of its nodes
    int depth;
    std::size_t votes;
  };
  static constexpr int kUnchecked = 4;  // levels between two looks whether all rows are at leaves

  /// Level by level, both sides of a branch next to each other. The first node leads nowhere: a leaf's `next` stands
  /// before it.
  void add_tree(const Plain& forest, const typename Plain::Tree& from) {
    Tree tree{nodes_.size(), 0, from.votes};
    std::size_t count = 2;
    std::vector<std::pair<std::size_t, std::size_t>> level = {{from.root, kRoot}}, below;
    for (; !level.empty(); level.swap(below)) {
      below.clear();
      nodes_.resize(tree.first + count);
      first_votes_.resize(nodes_.size());
      for (const auto& [number, at] : level) {
        const auto& item = forest.items[number];
        Node& node = nodes_[tree.first + at];
        if (item.is_leaf) {
          first_votes_[tree.first + at] = static_cast<std::uint32_t>(item.first_vote);
          node.next = static_cast<decltype(node.next)>(at - 1);
          continue;
        }
        node.split = item.split;
        node.column = static_cast<decltype(node.column)>(item.column * static_cast<std::uint32_t>(kForestRows));
        node.next = static_cast<decltype(node.next)>(count);
        below.emplace_back(item.yes, count++);
        below.emplace_back(item.no, count++);
      }
      if (!below.empty()) ++tree.depth;
    }
    trees_.push_back(tree);
  }

  /// One step of a walk.
  static std::size_t below(const Node* tree, const Scalar* values, std::size_t at) {
    const Node node = tree[at];
    return node.next + static_cast<std::size_t>(!(values[node.column] <= node.split));
  }

  void add_leaf(const Tree& tree, std::size_t at, double* sums) const {
    votes_.add(first_votes_[tree.first + at], tree.votes, sums);
  }

  /// A row down several trees at once.
  void add_votes(const Scalar* values, double* sums) const override {
    constexpr std::size_t kTrees = kForestRows;
    for (std::size_t first = 0; first < trees_.size(); first += kTrees) {
      std::size_t at[kTrees];
      const Node* nodes[kTrees];
      int depth = 0;
      for (std::size_t i = 0; i < kTrees; ++i) {
        const Tree& tree = trees_[std::min(first + i, trees_.size() - 1)];
        at[i] = kRoot;
        nodes[i] = nodes_.data() + tree.first;
        depth = std::max(depth, tree.depth);
      }
      for (int level = 0; level < depth; ++level) {
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kTrees; ++i) at[i] = below(nodes[i], values, at[i]);
      }
      for (std::size_t i = 0; i < std::min(kTrees, trees_.size() - first); ++i)
        add_leaf(trees_[first + i], at[i], sums);
    }
  }

  /// Each of kForestRows rows down a tree. The places are variables of their own, for registers.
  void descend(const Node* tree, const Scalar* values, int depth, std::size_t* at) const {
    std::size_t a = kRoot, b = kRoot, c = kRoot, d = kRoot, e = kRoot, f = kRoot, g = kRoot, h = kRoot;
    for (int level = 0; level < depth;) {
      std::size_t moves = 0;
      for (const int end = std::min(depth, level + kUnchecked); level < end; ++level) {
        const std::size_t before = a + b + c + d + e + f + g + h;
        a = below(tree, values, a);
        b = below(tree, values + 1, b);
        c = below(tree, values + 2, c);
        d = below(tree, values + 3, d);
        e = below(tree, values + 4, e);
        f = below(tree, values + 5, f);
        g = below(tree, values + 6, g);
        h = below(tree, values + 7, h);
        moves = a + b + c + d + e + f + g + h - before;  // children stand behind their parents
      }
      if (moves == 0) break;
    }
    const std::size_t all[] = {a, b, c, d, e, f, g, h};
    static_assert(std::size(all) == kForestRows);
    std::copy(std::begin(all), std::end(all), at);
  }

  void add_votes(const Scalar* values, std::int64_t groups, std::int64_t rows, double* sums) const override {
    for (const Tree& tree : trees_)
      for (std::int64_t group = 0; group < groups; ++group) {
        std::size_t at[kForestRows];
        descend(nodes_.data() + tree.first, values + static_cast<std::size_t>(group) * this->group_size(), tree.depth,
                at);
        const std::int64_t first = group * kForestRows, count = std::min(kForestRows, rows - first);
        for (std::int64_t i = 0; i < count; ++i) add_leaf(tree, at[i], sums + (first + i) * this->targets());
      }
  }

  static constexpr std::size_t kRoot = 1;
  ForestVotes<Types> votes_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> first_votes_;  // of leaves
  std::vector<Tree> trees_;
};

/// Whether every tree fits small nodes.
template <class Types> bool are_small(const PlainForest<Types>& forest) {
  for (std::size_t i = 0; i < forest.trees.size(); ++i) {
    const std::size_t end = i + 1 < forest.trees.size() ? forest.trees[i + 1].root : forest.items.size();
    if (end - forest.trees[i].root + 1 > SmallNode::kMost) return false;
  }
  return forest.columns.size() * kForestRows <= SmallNode::kMost;
}

template <class Types>
std::unique_ptr<PreparedNode> prepare(PrepareContext& c, const ops::Forest& forest, std::int64_t targets,
                                      bool is_average) {
  std::string why;
  const auto plain = ops::plain_forest<Types>(forest, targets, is_average, why);
  if (!plain) return c.refuse(why);
  if (auto ranked = make_ranked_trees(*plain)) return ranked;
  if (are_nearly_full(*plain)) return make_full_trees(*plain);
  if constexpr (std::is_same_v<typename Types::Scalar, float>)
    if (are_small(*plain)) return std::make_unique<Trees<Types, SmallNode>>(*plain);
  return std::make_unique<Trees<Types, WideNode<typename Types::Scalar>>>(*plain);
}

/// Whether the doubles that a node reads were floats just before.
bool was_float(const Node& node) {
  const Node* cast = node.input(0)->producer();
  return cast && cast->is("Cast") && cast->input(0) && cast->input(0)->type.elem == DType::f32;
}

}  // namespace

std::unique_ptr<PreparedNode> prepare_trees(PrepareContext& c) {
  const auto elem = c.elem(0);
  if (elem != DType::f32 && elem != DType::f64) return c.refuse("the input is not known to be of type float or double");
  const Attributes& attributes = c.node.attributes;
  constexpr std::int64_t kAverage = 0, kSum = 1;
  const std::int64_t aggregate = attributes.int_or("aggregate_function", kSum);
  if (aggregate != kSum && aggregate != kAverage) return c.refuse("trees are neither added nor averaged");
  if (attributes.int_or("post_transform", 0) != 0) return c.refuse("the scores are transformed");
  const auto* targets = attributes.get<std::int64_t>("n_targets");
  const auto forest = ops::read_ensemble(attributes);
  if (!forest || !targets || *targets < 1) return c.refuse("the trees test for membership or share branches");
  const bool is_average = aggregate == kAverage;
  if (elem == DType::f64 && was_float(c.node)) return prepare<MixedForest>(c, *forest, *targets, is_average);
  if (elem == DType::f64) return prepare<DoubleForest>(c, *forest, *targets, is_average);
  if (forest->elem != DType::f32) return c.refuse("thresholds are of type double");
  return prepare<FloatForest>(c, *forest, *targets, is_average);
}

}  // namespace ingot::engine
