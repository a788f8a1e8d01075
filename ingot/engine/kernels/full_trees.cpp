// Forests whose trees are full, or nearly: the way down needs no links and no test for leaves.
#include <algorithm>
#include <vector>

#include "ingot/engine/kernels/plain_forest.h"

namespace ingot::engine {
namespace {

constexpr int kDeepest = 12;

/// Trees of which every leaf is filled up to the depth of its tree: the way down needs no links, and no test for
/// leaves.
template <class Types> class FullTrees final : public ForestNode<Types> {
 public:
  using Plain = PlainForest<Types>;
  using Scalar = typename Types::Scalar;
  explicit FullTrees(const Plain& forest) : ForestNode<Types>(forest) {
    for (const auto& tree : forest.trees) {
      const int depth = forest.depth(tree, kDeepest);
      trees_.push_back({branches_.size(), votes_.size(), tree.votes, depth});
      branches_.resize(branches_.size() + (std::size_t{1} << depth));  // the root is number 1
      votes_.resize(votes_.size() + (tree.votes << depth));
      fill(forest, trees_.back(), tree.root);
    }
  }

 private:
  struct Branch {
    Scalar split = 0;
    std::uint32_t column = 0;  // where its values of kForestRows rows begin
  };
  struct FullTree {
    std::size_t branches, votes;
    std::size_t votes_of_leaf;
    int depth;
  };

  void fill(const Plain& forest, const FullTree& tree, std::size_t root) {
    std::vector<std::size_t> level = {root}, below;  // leaves stand for both nodes below them
    for (int depth = 0; depth < tree.depth; ++depth) {
      below.clear();
      for (std::size_t i = 0; i < level.size(); ++i) {
        const auto& item = forest.items[level[i]];
        below.insert(below.end(), {item.is_leaf ? level[i] : item.yes, item.is_leaf ? level[i] : item.no});
        if (item.is_leaf) continue;
        branches_[tree.branches + (std::size_t{1} << depth) + i] = {
            item.split, item.column * static_cast<std::uint32_t>(kForestRows)};
      }
      level.swap(below);
    }
    for (std::size_t i = 0; i < level.size(); ++i)
      std::copy_n(forest.votes.data() + forest.items[level[i]].first_vote, tree.votes_of_leaf,
                  votes_.data() + tree.votes + i * tree.votes_of_leaf);
  }

  static std::size_t side(Scalar value, Scalar split) { return static_cast<std::size_t>(!(value <= split)); }

  void add_leaf(const FullTree& tree, std::size_t at, double* sums) const {
    const std::size_t leaf = at - (std::size_t{1} << tree.depth);
    this->add(votes_.data() + tree.votes + leaf * tree.votes_of_leaf, tree.votes_of_leaf, sums);
  }

  /// One row down several trees at once.
  void add_votes(const Scalar* x, double* sums) const override {
    constexpr std::size_t kTrees = 8;
    const Branch* branches = branches_.data();
    std::size_t first = 0;
    for (; first + kTrees <= trees_.size(); first += kTrees) {
      const FullTree* trees = trees_.data() + first;
      std::size_t at[kTrees];
      int least = trees[0].depth;
      for (std::size_t i = 0; i < kTrees; ++i) {
        at[i] = 1;
        least = std::min(least, trees[i].depth);
      }
      const auto descend = [&](std::size_t i) {
        const Branch& branch = branches[trees[i].branches + at[i]];
        at[i] = 2 * at[i] + side(x[branch.column], branch.split);
      };
      for (int level = 0; level < least; ++level) {
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kTrees; ++i) descend(i);
      }
      for (std::size_t i = 0; i < kTrees; ++i) {
        for (int level = least; level < trees[i].depth; ++level) descend(i);
        add_leaf(trees[i], at[i], sums);
      }
    }
    for (; first < trees_.size(); ++first) {
      const FullTree& tree = trees_[first];
      std::size_t at = 1;
      for (int level = 0; level < tree.depth; ++level) {
        const Branch& branch = branches_[tree.branches + at];
        at = 2 * at + side(x[branch.column], branch.split);
      }
      add_leaf(tree, at, sums);
    }
  }

  void add_votes(const Scalar* values, std::int64_t groups, std::int64_t rows, double* sums) const override {
    for (const FullTree& tree : trees_)
      for (std::int64_t i = 0; i < groups; ++i)
        group(values + static_cast<std::size_t>(i) * this->group_size(), tree,
              std::min(kForestRows, rows - i * kForestRows), sums + i * kForestRows * this->targets());
  }

  void group(const Scalar* values, const FullTree& tree, std::int64_t count, double* sums) const {
    std::size_t at[kForestRows];
    std::fill_n(at, kForestRows, std::size_t{1});
    const Branch* branches = branches_.data() + tree.branches;
    for (int level = 0; level < tree.depth; ++level) {
#pragma GCC unroll 8
      for (std::int64_t i = 0; i < kForestRows; ++i) {
        const Branch& branch = branches[at[i]];
        at[i] = 2 * at[i] + side(values[branch.column + static_cast<std::size_t>(i)], branch.split);
      }
    }
    for (std::int64_t i = 0; i < count; ++i) add_leaf(tree, at[i], sums + i * this->targets());
  }

  std::vector<Branch> branches_;
  std::vector<typename Plain::Vote> votes_;
  std::vector<FullTree> trees_;
};

}  // namespace

template <class Types> bool are_nearly_full(const PlainForest<Types>& forest) {
  constexpr std::size_t kMostGrowth = 4;
  std::size_t all = 0;
  for (const auto& tree : forest.trees) {
    const int depth = forest.depth(tree, kDeepest);
    if (depth > kDeepest) return false;
    all += std::size_t{2} << depth;
  }
  return all <= kMostGrowth * forest.items.size();
}

template <class Types> std::unique_ptr<PreparedNode> make_full_trees(const PlainForest<Types>& forest) {
  return std::make_unique<FullTrees<Types>>(forest);
}

template bool are_nearly_full(const PlainForest<FloatForest>&);
template std::unique_ptr<PreparedNode> make_full_trees(const PlainForest<FloatForest>&);
template bool are_nearly_full(const PlainForest<DoubleForest>&);
template std::unique_ptr<PreparedNode> make_full_trees(const PlainForest<DoubleForest>&);
template bool are_nearly_full(const PlainForest<MixedForest>&);
template std::unique_ptr<PreparedNode> make_full_trees(const PlainForest<MixedForest>&);

}  // namespace ingot::engine
