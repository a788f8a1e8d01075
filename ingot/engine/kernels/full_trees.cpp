// Forests whose trees are full, or nearly: the way down needs no links and no test for leaves.
#include "ingot/engine/kernels/full_trees.h"

#include <algorithm>
#include <vector>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"

namespace ingot::engine {
namespace {

constexpr int kDeepest = 12;
constexpr std::int64_t kRows = 8;  // that go down a tree together: each waits for memory alone

/// Stops beyond kDeepest.
int depth_of(const ops::Forest& forest, std::size_t root) {
  int depth = 0;
  for (std::vector<std::size_t> level = {root}, below;; level.swap(below), ++depth) {
    below.clear();
    for (const std::size_t item : level)
      if (!forest.items[item].is_leaf) below.insert(below.end(), {forest.items[item].yes, forest.items[item].no});
    if (below.empty() || depth > kDeepest) return depth;
  }
}

/// Trees of which every leaf is filled up to the depth of its tree: the way down needs no links, and no test for
/// leaves.
class FullTrees final : public PreparedNode {
 public:
  FullTrees(const ops::Forest& forest, std::int64_t targets, bool is_average, bool is_strict)
      : targets_(targets), is_average_(is_average), is_strict_(is_strict) {
    for (const ops::Forest::Item& item : forest.items)
      if (!item.is_leaf) used_.push_back(item.feature);
    std::ranges::sort(used_);
    used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
    for (const std::size_t root : forest.roots) {
      const int depth = depth_of(forest, root);
      trees_.push_back({branches_.size(), leaves_.size(), depth});
      branches_.resize(branches_.size() + (std::size_t{1} << depth));  // the root is number 1
      leaves_.resize(leaves_.size() + (std::size_t{1} << depth));
      fill(forest, trees_.back(), root);
    }
  }

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32 || x.rank() < 1 || x.rank() > 2)
      c.fail("the input is not of the type that was inferred");
    const std::int64_t rows = x.rank() == 1 ? 1 : x.dims()[0], features = x.dims().back();
    if (!used_.empty() && features <= used_.back()) c.fail("a branch asks for a feature that does not exist");
    Array y = make_raw(c, 0, DType::f32, {rows, targets_});
    const float* in = x.data<float>().data();
    float* out = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    constexpr std::int64_t kPiece = 128;  // rows: they and a tree stay in the first-level cache
    pool.parallel_for(rows, kPiece, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      if (is_strict_)
        block<true>(in + begin * features, features, end - begin, out + begin * targets_);
      else
        block<false>(in + begin * features, features, end - begin, out + begin * targets_);
    });
  }

 private:
  struct Branch {
    float split = 0;
    std::uint32_t feature = 0;  // where its values of kRows rows begin
  };
  struct Leaf {
    float weight = 0;
    std::uint32_t target = 0;
  };
  struct FullTree {
    std::size_t branches, leaves;
    int depth;
  };

  void fill(const ops::Forest& forest, const FullTree& tree, std::size_t root) {
    std::vector<std::size_t> level = {root}, below;  // leaves stand for both nodes below them
    for (int depth = 0; depth < tree.depth; ++depth) {
      below.clear();
      for (std::size_t i = 0; i < level.size(); ++i) {
        const ops::Forest::Item& item = forest.items[level[i]];
        below.insert(below.end(), {item.is_leaf ? level[i] : item.yes, item.is_leaf ? level[i] : item.no});
        if (item.is_leaf) continue;
        const auto at = std::ranges::lower_bound(used_, item.feature) - used_.begin();
        branches_[tree.branches + (std::size_t{1} << depth) + i] = {static_cast<float>(item.split),
                                                                    static_cast<std::uint32_t>(at * kRows)};
      }
      level.swap(below);
    }
    for (std::size_t i = 0; i < level.size(); ++i)
      for (const ops::Forest::Vote& vote : forest.items[level[i]].votes)
        leaves_[tree.leaves + i] = {static_cast<float>(vote.weight), static_cast<std::uint32_t>(vote.target)};
  }

  template <bool kIsStrict> static std::size_t side(float value, float split) {
    return static_cast<std::size_t>(!(kIsStrict ? value < split : value <= split));
  }

  void add(const Leaf& leaf, double* sums) const { sums[leaf.target] += static_cast<double>(leaf.weight); }

  /// One row down several trees at once.
  template <bool kIsStrict> void single(const float* x, double* sums) const {
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
        at[i] = 2 * at[i] + side<kIsStrict>(x[branch.feature], branch.split);
      };
      for (int level = 0; level < least; ++level) {
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kTrees; ++i) descend(i);
      }
      for (std::size_t i = 0; i < kTrees; ++i) {
        for (int level = least; level < trees[i].depth; ++level) descend(i);
        add(leaves_[trees[i].leaves + at[i] - (std::size_t{1} << trees[i].depth)], sums);
      }
    }
    for (; first < trees_.size(); ++first) {
      const FullTree& tree = trees_[first];
      std::size_t at = 1;
      for (int level = 0; level < tree.depth; ++level) {
        const Branch& branch = branches_[tree.branches + at];
        at = 2 * at + side<kIsStrict>(x[branch.feature], branch.split);
      }
      add(leaves_[tree.leaves + at - (std::size_t{1} << tree.depth)], sums);
    }
  }

  /// The values of kRows rows of each feature, one after the other.
  template <bool kIsStrict>
  void group(const float* values, const FullTree& tree, std::int64_t count, double* sums) const {
    std::size_t at[kRows];
    std::fill_n(at, kRows, std::size_t{1});
    const Branch* branches = branches_.data() + tree.branches;
    for (int level = 0; level < tree.depth; ++level) {
#pragma GCC unroll 8
      for (std::int64_t i = 0; i < kRows; ++i) {
        const Branch& branch = branches[at[i]];
        at[i] = 2 * at[i] + side<kIsStrict>(values[branch.feature + static_cast<std::size_t>(i)], branch.split);
      }
    }
    const Leaf* leaves = leaves_.data() + tree.leaves;
    const std::size_t first = std::size_t{1} << tree.depth;
    for (std::int64_t i = 0; i < count; ++i) add(leaves[at[i] - first], sums + i * targets_);
  }

  template <bool kIsStrict> void block(const float* x, std::int64_t features, std::int64_t rows, float* out) const {
    std::vector<double> sums(static_cast<std::size_t>(rows * targets_), 0.0);
    const std::int64_t used = std::ssize(used_), groups = (rows + kRows - 1) / kRows;
    const bool is_single = rows < kRows;
    std::vector<float> values(static_cast<std::size_t>(used * (is_single ? kRows : groups * kRows)));
    const auto gather = [&](std::int64_t row, float* to) {
      for (std::size_t f = 0; f < used_.size(); ++f) to[f * kRows] = x[row * features + used_[f]];
    };
    if (is_single) {
      for (std::int64_t row = 0; row < rows; ++row) {
        gather(row, values.data());
        single<kIsStrict>(values.data(), sums.data() + row * targets_);
      }
    } else {
      for (std::int64_t i = 0; i < groups * kRows; ++i)
        gather(std::min(i, rows - 1), values.data() + i / kRows * used * kRows + i % kRows);
      for (const FullTree& tree : trees_)
        for (std::int64_t i = 0; i < groups; ++i)
          group<kIsStrict>(values.data() + i * used * kRows, tree, std::min(kRows, rows - i * kRows),
                           sums.data() + i * kRows * targets_);
    }
    const double divisor = is_average_ ? static_cast<double>(trees_.size()) : 1.0;
    for (std::size_t i = 0; i < sums.size(); ++i) out[i] = static_cast<float>(sums[i] / divisor);
  }

  std::int64_t targets_;
  bool is_average_, is_strict_;
  std::vector<std::int64_t> used_;  // features, in order
  std::vector<Branch> branches_;
  std::vector<Leaf> leaves_;
  std::vector<FullTree> trees_;
};

}  // namespace

bool are_nearly_full(const ops::Forest& forest) {
  constexpr std::size_t kMostGrowth = 4;
  std::size_t all = 0;
  for (const std::size_t root : forest.roots) {
    const int depth = depth_of(forest, root);
    if (depth > kDeepest) return false;
    all += std::size_t{2} << depth;
  }
  return all <= kMostGrowth * forest.items.size();
}

std::unique_ptr<PreparedNode> make_full_trees(const ops::Forest& forest, std::int64_t targets, bool is_average,
                                              bool is_strict) {
  return std::make_unique<FullTrees>(forest, targets, is_average, is_strict);
}

}  // namespace ingot::engine
