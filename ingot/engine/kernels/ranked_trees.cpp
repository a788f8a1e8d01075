// Large forests: values become ranks among the thresholds of their column, once for all trees. Ranks take 16 bits, so
// that many rows fit a vector and a node one word; what is compared is the same.
#include "ingot/engine/kernels/ranked_trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ingot::engine {
namespace {

using Rank = std::uint16_t;
constexpr Rank kNeverAbove = 32767;  // the split of a leaf
constexpr Rank kAlwaysAbove = 0;     // of a branch that nothing passes; ranks begin at 1
constexpr Rank kNotANumber = 32767;  // above every branch's split
constexpr std::size_t kMostThresholds = 32765;
constexpr std::size_t kMostColumns = 65535 / kRankedRows;

/// The thresholds of a column in order.
template <class Scalar> class Thresholds {
 public:
  void add(Scalar split) {
    if (!std::isnan(split)) numbers_.push_back(split);
  }
  void finish() {
    std::ranges::sort(numbers_);
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  }
  std::size_t size() const { return numbers_.size(); }

  Rank split(Scalar split) const {
    if (std::isnan(split)) return kAlwaysAbove;
    return static_cast<Rank>(1 + (std::ranges::lower_bound(numbers_, split) - numbers_.begin()));
  }

  /// Of `Count` values, side by side: each step of a search waits for the one before.
  template <std::size_t Count> void ranks(const Scalar* values, Rank* to) const {
    std::uint32_t at[Count] = {};
    const Scalar* numbers = numbers_.data();
    auto left = static_cast<std::uint32_t>(numbers_.size());
    for (; left > 1; left -= left / 2) {
      const std::uint32_t half = left / 2;
      for (std::size_t i = 0; i < Count; ++i)
        at[i] += (0u - static_cast<std::uint32_t>(numbers[at[i] + half - 1] < values[i])) & half;
    }
    for (std::size_t i = 0; i < Count; ++i) {
      const auto last = static_cast<std::uint32_t>(left == 1 && numbers[at[i]] < values[i]);
      to[i] = std::isnan(values[i]) ? kNotANumber : static_cast<Rank>(1 + at[i] + last);
    }
  }

 private:
  std::vector<Scalar> numbers_;
};

template <class Types> class RankedTrees final : public ForestNode<Types> {
 public:
  using Plain = PlainForest<Types>;
  using Scalar = typename Types::Scalar;
  RankedTrees(const Plain& forest, std::vector<Thresholds<Scalar>> thresholds)
      : ForestNode<Types>(forest), votes_(forest), thresholds_(std::move(thresholds)) {
    for (const auto& tree : forest.trees) add_tree(forest, tree);
  }

 private:
  struct Tree {
    std::size_t first;  // of its nodes, of which the first kTopLeaves are where the ways out of its top lead
    int depth;          // below its top
    std::size_t votes;  // of each leaf
    TopOfTree top{};
    std::size_t nodes = 0, leaves = 0, first_vote = std::numeric_limits<std::size_t>::max();
  };

  /// A node is a word: where the value of a row is not above the split it leads to `next`, else to the node before it.
  /// A leaf leads to itself, so that the way down has no test for leaves.
  static std::uint64_t node(std::size_t column, Rank split, std::size_t next) {
    return static_cast<std::uint64_t>(next) << 32 | static_cast<std::uint64_t>(split) << 16 | column;
  }
  /// One step of a walk: what is borrowed from `next` in the subtraction is the answer.
  static std::uint64_t below(const std::uint64_t* tree, const Rank* ranks, std::uint64_t at) {
    const std::uint64_t node = tree[at];
    return ((node >> 16) - ranks[node & 0xffff]) >> 16;
  }

  std::size_t place(const typename Plain::Item& item) const { return item.column * kRankedRows; }
  Rank split(const typename Plain::Item& item) const { return thresholds_[item.column].split(item.split); }

  void add_tree(const Plain& forest, const typename Plain::Tree& from) {
    Tree tree{nodes_.size(), 0, from.votes};
    std::vector<std::size_t> level = {from.root}, below;
    for (int depth = 0; depth < kTopLevels; ++depth, level.swap(below)) {
      below.clear();
      for (std::size_t i = 0; i < level.size(); ++i) {
        const auto& item = forest.items[level[i]];
        const std::size_t at = (std::size_t{1} << depth) + i;
        tree.top.splits[at] = item.is_leaf ? kNeverAbove : split(item);
        tree.top.columns[at] = item.is_leaf ? Rank{0} : static_cast<Rank>(place(item));
        below.insert(below.end(), {item.is_leaf ? level[i] : item.yes, item.is_leaf ? level[i] : item.no});
      }
    }
    add_nodes(forest, level, tree);
    trees_.push_back(tree);
  }

  /// Level by level, children behind their parents.
  void add_nodes(const Plain& forest, std::vector<std::size_t>& level, Tree& tree) {
    std::vector<std::size_t> below;
    for (std::size_t first = 0, end; !level.empty(); first = end, level.swap(below)) {
      end = first + level.size();
      below.clear();
      for (std::size_t i = 0; i < level.size(); ++i) {
        const auto& item = forest.items[level[i]];
        first_votes_.push_back(static_cast<std::uint32_t>(item.first_vote));
        if (item.is_leaf) {
          nodes_.push_back(node(0, kNeverAbove, first + i));
          tree.first_vote = std::min(tree.first_vote, item.first_vote);
          ++tree.leaves;
          continue;
        }
        nodes_.push_back(node(place(item), split(item), end + below.size() + 1));
        below.insert(below.end(), {item.no, item.yes});
      }
      if (!below.empty()) ++tree.depth;
    }
    tree.nodes = nodes_.size() - tree.first;
  }

  /// Rows down a tree from where they left its top, to their leaves: as many at once as registers hold.
  void descend(const Tree& tree, const Rank* ranks, const Rank* ways, std::uint64_t* leaves) const {
    const std::uint64_t* nodes = nodes_.data() + tree.first;
    static_assert(kRankedRows % kAtOnce == 0);
    for (std::size_t row = 0; row < kRankedRows; row += kAtOnce) {
      std::uint64_t at[kAtOnce];
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kAtOnce; ++i) at[i] = ways[row + i];
      for (int level = 0; level < tree.depth;) {
        for (const int end = std::min(tree.depth, level + kUnchecked); level < end; ++level) {
#pragma GCC unroll 8
          for (std::size_t i = 0; i < kAtOnce; ++i) at[i] = below(nodes, ranks + row + i, at[i]);
        }
        if (level == tree.depth) break;
        std::uint64_t moves = 0;  // that a further step would make
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kAtOnce; ++i) moves |= at[i] ^ below(nodes, ranks + row + i, at[i]);
        if (moves == 0) break;
      }
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kAtOnce; ++i) leaves[row + i] = at[i];
    }
  }

  /// As many rows at once as leave room for a tree in the first-level cache.
  std::size_t groups_at_once(std::size_t all) const {
    constexpr std::size_t kMostBytes = 24 << 10, kFewest = 8;
    return std::min(all, std::max(kFewest, kMostBytes / (this->columns() * kRankedRows * sizeof(Rank))));
  }

  void add_votes(const Scalar* values, std::int64_t groups, std::int64_t rows, double* sums) const override {
    const std::size_t all = (static_cast<std::size_t>(rows) + kRankedRows - 1) / kRankedRows;
    const std::size_t some = groups_at_once(all);
    std::vector<Rank> ranks(some * this->columns() * kRankedRows), ways(some * kRankedRows);
    for (std::size_t first = 0; first < all; first += some) {
      const Piece piece{ranks.data(), std::min(some, all - first),
                        std::min(some * kRankedRows, static_cast<std::size_t>(rows) - first * kRankedRows)};
      rank(values, static_cast<std::size_t>(groups), first, piece);
      double* to = sums + first * kRankedRows * static_cast<std::size_t>(this->targets());
      for (const Tree& tree : trees_) {
        if (&tree != &trees_.back()) fetch((&tree)[1]);
        walk_top(tree.top, ranks.data(), this->columns() * kRankedRows, piece.groups, ways.data());
        add_tree_votes(tree, piece, ways.data(), to);
      }
    }
  }

  /// Asks for what a tree holds while the one before it is walked.
  void fetch(const Tree& tree) const {
    const auto lines = [](const auto* begin, std::size_t count) {
      constexpr std::size_t kLine = 64 / sizeof(*begin), kMost = 512 * kLine;
      for (std::size_t i = 0; i < std::min(count, kMost); i += kLine) __builtin_prefetch(begin + i);
    };
    lines(nodes_.data() + tree.first, tree.nodes);
    lines(first_votes_.data() + tree.first, tree.nodes);
    lines(votes_.weights() + tree.first_vote, tree.leaves * tree.votes);
  }

  /// Some of the rows.
  struct Piece {
    Rank* ranks;
    std::size_t groups, rows;
  };

  /// The ranks of groups from the `first` on, of values that lie in groups of kForestRows. The last ones stand in where
  /// rows are missing.
  void rank(const Scalar* values, std::size_t value_groups, std::size_t first, const Piece& piece) const {
    constexpr auto kEach = static_cast<std::size_t>(kForestRows);
    for (std::size_t column = 0; column < this->columns(); ++column)
      for (std::size_t group = 0; group < piece.groups; ++group) {
        std::array<Scalar, kRankedRows> some;
        for (std::size_t i = 0; i < kRankedRows; i += kEach) {
          const std::size_t from = std::min(((first + group) * kRankedRows + i) / kEach, value_groups - 1);
          std::copy_n(values + from * this->group_size() + column * kEach, kEach, some.data() + i);
        }
        thresholds_[column].template ranks<kRankedRows>(some.data(),
                                                        piece.ranks + (group * this->columns() + column) * kRankedRows);
      }
  }

  void add_tree_votes(const Tree& tree, const Piece& piece, const Rank* ways, double* sums) const {
    const std::uint32_t* first_votes = first_votes_.data() + tree.first;
    for (std::size_t group = 0; group < piece.groups; ++group) {
      std::uint64_t at[kRankedRows];
      descend(tree, piece.ranks + group * this->columns() * kRankedRows, ways + group * kRankedRows, at);
      const std::size_t first = group * kRankedRows, count = std::min(kRankedRows, piece.rows - first);
      for (std::size_t i = 0; i < count; ++i) at[i] = first_votes[at[i]];
      votes_.add(at, count, tree.votes, sums + first * static_cast<std::size_t>(this->targets()));
    }
  }

  /// One row down several trees at once.
  void add_votes(const Scalar* values, double* sums) const override {
    std::vector<Rank> ranks(this->columns() * kRankedRows);
    for (std::size_t column = 0; column < this->columns(); ++column)
      thresholds_[column].template ranks<1>(values + column * kForestRows, ranks.data() + column * kRankedRows);
    constexpr std::size_t kTrees = 8;
    for (std::size_t first = 0; first < trees_.size(); first += kTrees) {
      const std::size_t count = std::min(kTrees, trees_.size() - first);
      std::uint64_t at[kTrees];
      const Tree* trees[kTrees];
      int depth = 0;
      for (std::size_t i = 0; i < kTrees; ++i) {
        trees[i] = &trees_[first + std::min(i, count - 1)];
        at[i] = 1;
        depth = std::max(depth, trees[i]->depth);
      }
      for (int level = 0; level < kTopLevels; ++level)
        for (std::size_t i = 0; i < kTrees; ++i)
          at[i] = 2 * at[i] + (ranks[trees[i]->top.columns[at[i]]] > trees[i]->top.splits[at[i]] ? 1 : 0);
      for (std::size_t i = 0; i < kTrees; ++i) at[i] -= kTopLeaves;
      for (int level = 0; level < depth; ++level)
        for (std::size_t i = 0; i < kTrees; ++i) at[i] = below(nodes_.data() + trees[i]->first, ranks.data(), at[i]);
      for (std::size_t i = 0; i < count; ++i) votes_.add(first_votes_[trees[i]->first + at[i]], trees[i]->votes, sums);
    }
  }

  static constexpr std::size_t kAtOnce = 8;
  static constexpr int kUnchecked = 8;  // levels between two looks whether all rows are at leaves
  ForestVotes<Types> votes_;
  std::vector<Thresholds<Scalar>> thresholds_;  // of each column
  std::vector<std::uint64_t> nodes_;
  std::vector<std::uint32_t> first_votes_;  // of leaves
  std::vector<Tree> trees_;
};

}  // namespace

template <class Types> std::unique_ptr<PreparedNode> make_ranked_trees(const PlainForest<Types>& forest) {
  // Where a row is asked for fewer trees, the search of its ranks is not worth it.
  if (forest.columns.empty() || forest.trees.size() < 2 * forest.columns.size()) return nullptr;
  if (forest.columns.size() > kMostColumns) return nullptr;
  std::vector<Thresholds<typename Types::Scalar>> thresholds(forest.columns.size());
  for (const auto& item : forest.items)
    if (!item.is_leaf) thresholds[item.column].add(item.split);
  for (auto& column : thresholds) {
    column.finish();
    if (column.size() > kMostThresholds) return nullptr;
  }
  return std::make_unique<RankedTrees<Types>>(forest, std::move(thresholds));
}

template std::unique_ptr<PreparedNode> make_ranked_trees(const PlainForest<FloatForest>&);
template std::unique_ptr<PreparedNode> make_ranked_trees(const PlainForest<DoubleForest>&);
template std::unique_ptr<PreparedNode> make_ranked_trees(const PlainForest<MixedForest>&);

}  // namespace ingot::engine
