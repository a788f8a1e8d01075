// Forests brought to one kind of test.
#include "ingot/ops/ml/plain_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

namespace ingot::ops {
namespace {

enum Mode : std::uint8_t { kLeq, kLt, kGte, kGt };  // as kTreeModes counts them

/// A test as value <= split, of the feature or of what it is with the other sign.
template <class Scalar> struct Test {
  bool is_negated = false, is_swapped = false;  // swapped: yes and no
  Scalar split = 0;
};

/// The largest number of the type that is not above x.
template <class Scalar> Scalar at_most(double x) {
  const auto nearest = static_cast<Scalar>(x);
  if (!(static_cast<double>(nearest) > x)) return nearest;
  return std::nextafter(nearest, -std::numeric_limits<Scalar>::infinity());
}

/// The largest number below x, which makes < of <=. Nothing is below the least.
template <class Scalar> Scalar below(double x) {
  constexpr Scalar kInfinity = std::numeric_limits<Scalar>::infinity();
  const auto floor = at_most<Scalar>(x);
  if (static_cast<double>(floor) < x) return floor;
  return floor == -kInfinity ? std::numeric_limits<Scalar>::quiet_NaN() : std::nextafter(floor, -kInfinity);
}

template <class Scalar> Test<Scalar> test_of(const Forest::Item& item) {
  // What a missing value passes is what the opposite test refuses.
  const auto mode = static_cast<Mode>(item.missing_goes_true ? kGt - item.mode : item.mode);
  Test<Scalar> test{.is_swapped = item.missing_goes_true};
  switch (mode) {
    case kLeq:
      test.split = at_most<Scalar>(item.split);
      break;
    case kLt:
      test.split = below<Scalar>(item.split);
      break;
    case kGte:
      test.is_negated = true;
      test.split = at_most<Scalar>(-item.split);
      break;
    case kGt:
      test.is_negated = true;
      test.split = below<Scalar>(-item.split);
      break;
  }
  return test;
}

/// Whether two trees ask the same, whatever their leaves say.
bool ask_the_same(const Forest& forest, std::size_t a, std::size_t b) {
  std::vector<std::pair<std::size_t, std::size_t>> open = {{a, b}};
  while (!open.empty()) {
    const Forest::Item &x = forest.items[open.back().first], &y = forest.items[open.back().second];
    open.pop_back();
    if (x.is_leaf != y.is_leaf) return false;
    if (x.is_leaf) continue;
    if (x.feature != y.feature || x.split != y.split || x.mode != y.mode || x.missing_goes_true != y.missing_goes_true)
      return false;
    open.emplace_back(x.yes, y.yes);
    open.emplace_back(x.no, y.no);
  }
  return true;
}

template <class Types> class Maker {
 public:
  using Plain = PlainForest<Types>;
  explicit Maker(const Forest& forest) : forest_(forest) {}

  Plain make(std::int64_t targets, bool is_average) {
    made_.items.reserve(forest_.items.size());
    made_.targets = targets;
    made_.divisor = is_average ? static_cast<double>(forest_.roots.size()) : 1.0;
    for (std::size_t i = 0, end; i < forest_.roots.size(); i = end) {
      for (end = i + 1; end < forest_.roots.size() && ask_the_same(forest_, forest_.roots[i], forest_.roots[end]);)
        ++end;
      add_tree(std::span(forest_.roots).subspan(i, end - i));
    }
    return std::move(made_);
  }

 private:
  /// Trees that ask the same, as one.
  void add_tree(std::span<const std::size_t> roots) {
    std::vector<std::size_t> open(roots.begin(), roots.end());  // an item of each tree, and the next ones behind them
    std::size_t votes = 0;
    for (const std::size_t root : roots) votes += forest_.votes_below(root).most;
    votes = std::max<std::size_t>(votes, 1);
    const std::size_t first = made_.items.size();
    made_.trees.push_back({first, votes});
    made_.items.emplace_back();
    for (std::size_t at = 0; at * roots.size() < open.size(); ++at) {
      const std::size_t same = at * roots.size();
      const Forest::Item& from = forest_.items[open[same]];
      typename Plain::Item item;
      item.is_leaf = from.is_leaf;
      if (from.is_leaf) {
        item.first_vote = made_.votes.size();
        add_votes(std::span(open).subspan(same, roots.size()), votes);
      } else {
        const auto test = test_of<typename Types::Scalar>(from);
        item.column = column(from.feature, test.is_negated);
        item.split = test.split;
        item.yes = made_.items.size();
        item.no = item.yes + 1;
        for (const bool yes : {!test.is_swapped, test.is_swapped})
          for (std::size_t i = 0; i < roots.size(); ++i) {
            const Forest::Item& one = forest_.items[open[same + i]];
            open.push_back(yes ? one.yes : one.no);
          }
        made_.items.resize(made_.items.size() + 2);
      }
      made_.items[first + at] = item;
    }
  }

  void add_votes(std::span<const std::size_t> leaves, std::size_t count) {
    const std::size_t end = made_.votes.size() + count;
    for (const std::size_t leaf : leaves)
      for (const Forest::Vote& vote : forest_.items[leaf].votes)
        made_.votes.push_back(
            {static_cast<typename Types::Weight>(vote.weight), static_cast<std::uint32_t>(vote.target)});
    made_.votes.resize(end);  // votes of nothing
  }

  std::uint32_t column(std::int64_t feature, bool is_negated) {
    const auto [it, is_new] =
        places_.try_emplace({feature, is_negated}, static_cast<std::uint32_t>(made_.columns.size()));
    if (is_new) made_.columns.push_back({feature, is_negated});
    return it->second;
  }

  const Forest& forest_;
  Plain made_;
  std::map<std::pair<std::int64_t, bool>, std::uint32_t> places_;
};

}  // namespace

template <class Types> int PlainForest<Types>::depth(const Tree& tree, int most) const {
  int depth = 0;
  for (std::vector<std::size_t> level = {tree.root}, below;; level.swap(below), ++depth) {
    below.clear();
    for (const std::size_t item : level)
      if (!items[item].is_leaf) below.insert(below.end(), {items[item].yes, items[item].no});
    if (below.empty() || depth > most) return depth;
  }
}

template <class Types>
std::optional<PlainForest<Types>> plain_forest(const Forest& forest, std::int64_t targets, bool is_average,
                                               std::string& why) {
  const auto refuse = [&](const char* reason) {
    why = reason;
    return std::nullopt;
  };
  if (forest.items.size() > std::numeric_limits<std::uint32_t>::max() / 8) return refuse("there are too many nodes");
  for (const Forest::Item& item : forest.items) {
    for (const Forest::Vote& vote : item.votes) {
      if (vote.target < 0 || vote.target >= targets || vote.target > std::numeric_limits<std::int32_t>::max())
        return refuse("a weight has no target");
      if (static_cast<double>(static_cast<typename Types::Weight>(vote.weight)) != vote.weight)
        return refuse("weights are of type double");
    }
    if (item.is_leaf) continue;
    if (item.mode > kGt) return refuse("branches ask for equality");
    if (std::isnan(item.split)) return refuse("a branch compares with no number");
    if (item.feature < 0 || item.feature > std::numeric_limits<std::int32_t>::max())
      return refuse("a feature is out of range");
  }
  return Maker<Types>(forest).make(targets, is_average);
}

template struct PlainForest<FloatForest>;
template std::optional<PlainForest<FloatForest>> plain_forest(const Forest&, std::int64_t, bool, std::string&);
template struct PlainForest<DoubleForest>;
template std::optional<PlainForest<DoubleForest>> plain_forest(const Forest&, std::int64_t, bool, std::string&);
template struct PlainForest<MixedForest>;
template std::optional<PlainForest<MixedForest>> plain_forest(const Forest&, std::int64_t, bool, std::string&);

}  // namespace ingot::ops
