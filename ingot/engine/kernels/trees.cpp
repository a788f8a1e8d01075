// Forests on floats: small nodes in one array per forest, several rows down a tree at once.
#include <cmath>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/full_trees.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/ml/forest.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kRows = 8;     // rows that go down a tree together, or trees that a row goes down together:
                                      // each waits for memory alone
constexpr std::int64_t kBlock = 256;  // rows per piece of work: a tree stays in the cache for all of them

/// The side of a branch that is not taken stands behind the one that is. A leaf leads to itself.
struct TreeNode {
  float split;  // of a leaf: its weight
  std::uint32_t feature;
  std::uint32_t next;
  std::uint32_t kind;  // a branch: 1; a leaf: twice its target, so that the lowest bit is 0
};

struct Tree {
  std::uint32_t root;
  int depth;
};

class Trees final : public PreparedNode {
 public:
  Trees(const ops::Forest& forest, std::int64_t targets, bool is_average) : targets_(targets), is_average_(is_average) {
    for (const std::size_t root : forest.roots) add_tree(forest, root);
  }

  bool is_strict = false;  // x < split, else x <= split

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32 || x.rank() < 1 || x.rank() > 2)
      c.fail("the input is not of the type that was inferred");
    const std::int64_t rows = x.rank() == 1 ? 1 : x.dims()[0], features = x.dims().back();
    if (features <= highest_feature_) c.fail("a branch asks for a feature that does not exist");
    Array y = make_raw(c, 0, DType::f32, {rows, targets_});
    const float* in = x.data<float>().data();
    float* out = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    pool.parallel_for(rows, kBlock, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      if (is_strict)
        block<true>(in, features, begin, end, out);
      else
        block<false>(in, features, begin, end, out);
    });
  }

 private:
  void add_tree(const ops::Forest& forest, std::size_t root) {
    // Level by level, both sides of a branch next to each other.
    std::vector<std::pair<std::size_t, std::uint32_t>> level = {{root, add_node()}};
    Tree tree{level.front().second, 0};
    while (!level.empty()) {
      std::vector<std::pair<std::size_t, std::uint32_t>> below;
      for (const auto& [item, at] : level) {
        const ops::Forest::Item& from = forest.items[item];
        if (from.is_leaf) {
          nodes_[at] = {0, 0, at, 0};
          for (const ops::Forest::Vote& vote : from.votes) {
            nodes_[at].split = static_cast<float>(vote.weight);
            nodes_[at].kind = static_cast<std::uint32_t>(vote.target) * 2;
          }
          continue;
        }
        const std::uint32_t yes = add_node(), no = add_node();
        nodes_[at] = {static_cast<float>(from.split), static_cast<std::uint32_t>(from.feature), yes, 1};
        highest_feature_ = std::max(highest_feature_, from.feature);
        below.emplace_back(from.yes, yes);
        below.emplace_back(from.no, no);
      }
      if (!below.empty()) ++tree.depth;
      level = std::move(below);
    }
    trees_.push_back(tree);
  }

  std::uint32_t add_node() {
    nodes_.push_back({});
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  /// One step of each of several walks.
  template <bool kIsStrict> static void descend(const TreeNode* nodes, const float* const* row, std::uint32_t* at) {
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < kRows; ++i) {
      const TreeNode& node = nodes[at[i]];
      const float value = row[i][node.feature];
      const bool goes_on = kIsStrict ? value < node.split : value <= node.split;
      at[i] = node.next + (static_cast<std::uint32_t>(!goes_on) & node.kind);
    }
  }

  void add(std::uint32_t leaf, double* sums) const {
    sums[nodes_[leaf].kind / 2] += static_cast<double>(nodes_[leaf].split);
  }

  /// A row down several trees at once.
  template <bool kIsStrict> void single(const float* x, double* sums) const {
    const float* row[kRows];
    std::fill_n(row, kRows, x);
    for (std::size_t first = 0; first < trees_.size(); first += kRows) {
      std::uint32_t at[kRows];
      int depth = 0;
      for (std::size_t i = 0; i < kRows; ++i) {
        const Tree& tree = trees_[std::min(first + i, trees_.size() - 1)];
        at[i] = tree.root;
        depth = std::max(depth, tree.depth);
      }
      for (int level = 0; level < depth; ++level) descend<kIsStrict>(nodes_.data(), row, at);
      for (std::size_t i = 0; i < std::min<std::size_t>(kRows, trees_.size() - first); ++i) add(at[i], sums);
    }
  }

  template <bool kIsStrict>
  void block(const float* x, std::int64_t features, std::int64_t begin, std::int64_t end, float* out) const {
    std::vector<double> sums(static_cast<std::size_t>((end - begin) * targets_), 0.0);
    if (end - begin < kRows) {
      for (std::int64_t i = begin; i < end; ++i)
        single<kIsStrict>(x + i * features, sums.data() + (i - begin) * targets_);
    } else {
      for (const Tree& tree : trees_)
        for (std::int64_t first = begin; first < end; first += kRows) {
          const std::int64_t count = std::min(kRows, end - first);
          std::uint32_t at[kRows];
          const float* row[kRows];
          for (std::int64_t i = 0; i < kRows; ++i) {
            at[i] = tree.root;
            row[i] = x + (first + std::min(i, count - 1)) * features;
          }
          for (int level = 0; level < tree.depth; ++level) descend<kIsStrict>(nodes_.data(), row, at);
          for (std::int64_t i = 0; i < count; ++i) add(at[i], sums.data() + (first - begin + i) * targets_);
        }
    }
    const double divisor = is_average_ ? static_cast<double>(trees_.size()) : 1.0;
    for (std::size_t i = 0; i < sums.size(); ++i)
      out[static_cast<std::size_t>(begin * targets_) + i] = static_cast<float>(sums[i] / divisor);
  }

  std::int64_t targets_;
  bool is_average_;
  std::vector<TreeNode> nodes_;
  std::vector<Tree> trees_;
  std::int64_t highest_feature_ = 0;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_trees(PrepareContext& c) {
  if (c.elem(0) != DType::f32) return c.refuse("the input is not known to be of type float");
  const Attributes& attributes = c.node.attributes;
  constexpr std::int64_t kAverage = 0, kSum = 1;
  const std::int64_t aggregate = attributes.int_or("aggregate_function", kSum);
  if (aggregate != kSum && aggregate != kAverage) return c.refuse("trees are neither added nor averaged");
  if (attributes.int_or("post_transform", 0) != 0) return c.refuse("the scores are transformed");
  const auto* targets = attributes.get<std::int64_t>("n_targets");
  const auto forest = ops::read_ensemble(attributes);
  if (!forest || !targets || *targets < 1) return c.refuse("the trees test for membership or share branches");
  if (forest->elem != DType::f32) return c.refuse("thresholds are of type double");
  if (forest->items.size() > std::numeric_limits<std::uint32_t>::max() / 4) return c.refuse("there are too many nodes");
  std::uint8_t mode = 0;
  bool has_mode = false;
  for (const ops::Forest::Item& item : forest->items) {
    if (item.is_leaf) {
      if (item.votes.size() > 1) return c.refuse("a leaf has several weights");
      for (const auto& vote : item.votes)
        if (vote.target < 0 || vote.target >= *targets || vote.target > std::numeric_limits<std::int32_t>::max())
          return c.refuse("a weight has no target");
      for (const auto& vote : item.votes)
        if (static_cast<double>(static_cast<float>(vote.weight)) != vote.weight)
          return c.refuse("weights are of type double");
      continue;
    }
    if (item.missing_goes_true) return c.refuse("a missing value decides");
    if (item.feature < 0 || item.feature > std::numeric_limits<std::int32_t>::max())
      return c.refuse("a feature is out of range");
    if (has_mode && item.mode != mode) return c.refuse("branches compare in several ways");
    mode = item.mode;
    has_mode = true;
  }
  if (mode > 1) return c.refuse("branches do not compare by < or <=");
  if (are_nearly_full(*forest)) return make_full_trees(*forest, *targets, aggregate == kAverage, mode == 1);
  auto trees = std::make_unique<Trees>(*forest, *targets, aggregate == kAverage);
  trees->is_strict = mode == 1;
  return trees;
}

}  // namespace ingot::engine
