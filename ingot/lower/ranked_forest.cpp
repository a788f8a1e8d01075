// The tables of a Forest: thresholds in order, and trees level by level.
#include "ingot/lower/ranked_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/ops/ml/plain_forest.h"

namespace ingot::lower {
namespace {

using Rank = std::uint16_t;
// What of a tree is asked of many rows at once, and how many have their ranks of a column side by side.
constexpr std::size_t kTopLevels = 5, kTopLeaves = std::size_t{1} << kTopLevels, kRows = 32;
constexpr Rank kNeverAbove = 32767;  // the split of a leaf
constexpr Rank kAlwaysAbove = 0;     // of a branch that nothing passes; ranks begin at 1
constexpr std::size_t kMostThresholds = 32765, kMostColumns = 384;

template <class Types> class Tables {
 public:
  using Plain = ops::PlainForest<Types>;
  using Scalar = typename Types::Scalar;

  explicit Tables(const Plain& forest) : forest_(forest), thresholds_(forest.columns.size()) {
    for (const auto& item : forest.items)
      if (!item.is_leaf && !std::isnan(item.split)) thresholds_[item.column].push_back(item.split);
    for (auto& column : thresholds_) {
      std::ranges::sort(column);
      column.erase(std::unique(column.begin(), column.end()), column.end());
      fits_ &= column.size() <= kMostThresholds;
    }
    for (const auto& tree : forest.trees)
      if (fits_) add_tree(tree);
  }

  bool fits() const { return fits_; }

  void fill(Lowering& l, Forest& s) const {
    std::vector<Scalar> numbers;
    std::vector<std::int32_t> begins = {0}, places;
    for (const auto& column : thresholds_) {
      numbers.insert(numbers.end(), column.begin(), column.end());
      begins.push_back(static_cast<std::int32_t>(numbers.size()));
    }
    for (const auto& column : forest_.columns) {
      const auto place = static_cast<std::int32_t>(column.feature);
      places.push_back(column.is_negated ? ~place : place);
    }
    const auto table = [&]<class T>(std::vector<T> values) {
      values.push_back(T{});  // there is always something to point at
      return l.stored(l.weight(Tensor::of<T>({std::ssize(values)}, values))).tensor;
    };
    s.numbers = table(numbers);
    s.begins = table(begins);
    s.places = table(places);
    s.tops = table(tops_);
    s.nodes = table(nodes_);
    s.shapes = table(shapes_);
    s.votes = table(votes_);
    if (!votes_in_order()) s.aims = table(aims_);
  }

 private:
  Rank split_of(const typename Plain::Item& item) const {
    if (std::isnan(item.split)) return kAlwaysAbove;
    const auto& column = thresholds_[item.column];
    return static_cast<Rank>(1 + (std::ranges::lower_bound(column, item.split) - column.begin()));
  }
  static Rank place_of(const typename Plain::Item& item) { return static_cast<Rank>(item.column * kRows); }
  /// Where the rank of a row is not above the split the way leads to `next`, else to the node before it.
  static std::uint64_t node(Rank place, Rank split, std::size_t next) {
    return static_cast<std::uint64_t>(next) << 32 | static_cast<std::uint64_t>(split) << 16 | place;
  }

  /// The first levels, as if all their branches were there: number 1 is the root, 2 i and 2 i + 1 are below i; 32
  /// splits, then the 32 places of what they are compared with. Returns what is below.
  std::vector<std::size_t> add_top(std::size_t root) {
    std::vector<Rank> splits(kTopLeaves, kNeverAbove), places(kTopLeaves, 0);
    std::vector<std::size_t> level = {root}, below;
    for (std::size_t depth = 0; depth < kTopLevels; ++depth, level.swap(below)) {
      below.clear();
      for (std::size_t i = 0; i < level.size(); ++i) {
        const auto& item = forest_.items[level[i]];
        below.insert(below.end(), {item.is_leaf ? level[i] : item.yes, item.is_leaf ? level[i] : item.no});
        if (item.is_leaf) continue;
        splits[(std::size_t{1} << depth) + i] = split_of(item);
        places[(std::size_t{1} << depth) + i] = place_of(item);
      }
    }
    tops_.insert(tops_.end(), splits.begin(), splits.end());
    tops_.insert(tops_.end(), places.begin(), places.end());
    return level;
  }

  /// Level by level, children behind their parents; a leaf leads to itself, and the last level, which is leaves alone,
  /// has no nodes. Votes are in the order of the nodes from the first leaf on.
  void add_tree(const typename Plain::Tree& from) {
    std::vector<std::size_t> level = add_top(from.root), below;
    const std::size_t first = nodes_.size(), first_vote = votes_.size();
    std::size_t least = std::numeric_limits<std::size_t>::max(), begin = 0;
    std::int32_t depth = 0;
    for (; !level.empty(); level.swap(below)) {
      const std::size_t end = begin + level.size();
      below.clear();
      std::vector<std::uint64_t> nodes;
      for (std::size_t i = 0; i < level.size(); ++i) {
        const auto& item = forest_.items[level[i]];
        if (item.is_leaf) least = std::min(least, begin + i);
        if (least <= begin + i) add_votes(item, from.votes);
        nodes.push_back(item.is_leaf ? node(0, kNeverAbove, begin + i)
                                     : node(place_of(item), split_of(item), end + below.size() + 1));
        if (!item.is_leaf) below.insert(below.end(), {item.no, item.yes});
      }
      begin = end;
      if (below.empty()) break;
      nodes_.insert(nodes_.end(), nodes.begin(), nodes.end());
      ++depth;
    }
    fits_ &= std::max(nodes_.size(), votes_.size()) < INT32_MAX;
    for (const std::size_t n : {first, static_cast<std::size_t>(depth), from.votes, first_vote, least})
      shapes_.push_back(static_cast<std::int32_t>(n));
  }

  void add_votes(const typename Plain::Item& item, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto vote = item.is_leaf ? forest_.votes[item.first_vote + i] : typename Plain::Vote{};
      votes_.push_back(vote.weight);
      aims_.push_back(static_cast<std::int32_t>(vote.target));
    }
  }

  bool votes_in_order() const {
    const auto targets = static_cast<std::size_t>(forest_.targets);
    if (std::ranges::any_of(forest_.trees, [&](const auto& tree) { return tree.votes != targets; })) return false;
    for (const auto& item : forest_.items)
      for (std::size_t i = 0; item.is_leaf && i < targets; ++i)
        if (forest_.votes[item.first_vote + i].target != i) return false;
    return true;
  }

  const Plain& forest_;
  std::vector<std::vector<Scalar>> thresholds_;
  std::vector<Rank> tops_;
  std::vector<std::uint64_t> nodes_;
  std::vector<std::int32_t> shapes_,
      aims_;  // shapes: first node, depth below the top, votes of a leaf, first vote, leaf
  std::vector<typename Types::Weight> votes_;
  bool fits_ = true;
};

template <class Types> View lower_as(Lowering& l, const ops::Forest& forest, const View& x, std::int64_t targets) {
  std::string why;
  const auto plain = ops::plain_forest<Types>(forest, targets, false, why);
  if (!plain || plain->columns.empty() || plain->columns.size() > kMostColumns) return {};
  // Where a row is asked for fewer trees, the search of its ranks is not worth it.
  if (plain->trees.size() < 2 * plain->columns.size()) return {};
  const std::int64_t width = *x.dims[1].as_int();
  if (std::ranges::any_of(plain->columns, [&](const auto& c) { return c.feature >= width; })) return {};
  const Tables<Types> tables(*plain);
  if (!tables.fits()) return {};
  const View totals = l.fresh(DType::f64, {x.dims[0], targets});
  Forest s{.out = totals.tensor,
           .x = x.tensor,
           .rows = x.dims[0],
           .width = width,
           .columns = std::ssize(plain->columns),
           .trees = std::ssize(plain->trees),
           .targets = targets};
  tables.fill(l, s);
  l.emit({s});
  return totals;
}

}  // namespace

View ranked_votes(Lowering& l, const View& x, std::int64_t targets) {
  if (!l.kernels().forests || !x.dims[1].as_int()) return {};
  constexpr std::int64_t kAverage = 0, kSum = 1;
  const std::int64_t aggregate = l.attr("aggregate_function", kSum);
  if (aggregate != kSum && aggregate != kAverage) return {};
  const auto forest = ops::read_ensemble(l.node().attributes);
  if (!forest) return {};
  if (x.type == DType::f64) return lower_as<ops::DoubleForest>(l, *forest, x, targets);
  if (x.type != DType::f32 || forest->elem != DType::f32) return {};
  return lower_as<ops::FloatForest>(l, *forest, x, targets);
}

}  // namespace ingot::lower
