// Trees as lists of branches in which all examples and all trees walk at once.
#include "ingot/ops/ml/forest_tensors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot::ops {
namespace {

/// A branch "x[feature] <= split"; a leaf leads to itself.
struct Branch {
  std::int64_t feature = 0, yes = 0, no = 0;
  float split = std::numeric_limits<float>::infinity();
  bool nan_goes_yes = false;
};

float before(float x) { return std::nextafter(x, -std::numeric_limits<float>::infinity()); }

/// The forest with one way to compare: the others say the same of the next smaller number, or with sides exchanged.
class Branches {
 public:
  explicit Branches(const Forest& forest) : forest_(forest), list_(forest.items.size()) {
    for (std::size_t i = 0; i < forest.items.size(); ++i) {
      const Forest::Item& item = forest.items[i];
      if (item.is_leaf)
        list_[i].yes = list_[i].no = static_cast<std::int64_t>(i);
      else
        add(i, item);
    }
  }
  const std::vector<Branch>& list() const { return list_; }

  /// Branches on the longest way to a leaf; nothing beyond `most`.
  std::optional<int> depth(int most) const {
    std::vector<std::int64_t> now(forest_.roots.begin(), forest_.roots.end());
    for (int steps = 0; steps <= most; ++steps) {
      std::vector<std::int64_t> next;
      for (const std::int64_t i : now) {
        const Branch& b = list_[static_cast<std::size_t>(i)];
        if (b.yes != i) next.push_back(b.yes);
        if (b.no != i) next.push_back(b.no);
      }
      if (next.empty()) return steps;
      std::ranges::sort(next);
      next.erase(std::unique(next.begin(), next.end()), next.end());
      now = std::move(next);
    }
    return std::nullopt;
  }

 private:
  enum Mode : std::uint8_t { kLessOrEqual, kLess, kGreaterOrEqual, kGreater, kEqual, kNotEqual };

  void add(std::size_t i, const Forest::Item& item) {
    const auto split = static_cast<float>(item.split);
    const auto yes = static_cast<std::int64_t>(item.yes), no = static_cast<std::int64_t>(item.no);
    const bool missing = item.missing_goes_true;
    const std::int64_t feature = item.feature;
    switch (item.mode) {
      case kLessOrEqual:
        list_[i] = {feature, yes, no, split, missing};
        break;
      case kLess:
        list_[i] = {feature, yes, no, before(split), missing};
        break;
      case kGreaterOrEqual:
        list_[i] = {feature, no, yes, before(split), !missing};
        break;
      case kGreater:
        list_[i] = {feature, no, yes, split, !missing};
        break;
      default: {
        // Equal: not above, and then not below. What is no number is not equal, unless it counts as true.
        const bool is_equal = item.mode == kEqual;
        const std::int64_t same = is_equal ? yes : no, other = is_equal ? no : yes;
        const bool nan_is_same = is_equal && missing;
        list_[i] = {feature, static_cast<std::int64_t>(list_.size()), other, split, nan_is_same};
        list_.push_back({feature, other, same, before(split), false});
      }
    }
  }

  const Forest& forest_;
  std::vector<Branch> list_;
};

}  // namespace

Value* forest_by_tensors(GraphBuilder& g, Value* x, const Forest& forest, std::int64_t targets) {
  const Branches branches(forest);
  const std::vector<Branch>& list = branches.list();
  constexpr int kDeepest = 64;
  const auto depth = branches.depth(kDeepest);
  if (!depth || list.empty() || forest.roots.empty()) return nullptr;
  const auto count = static_cast<std::int64_t>(list.size());
  std::vector<std::int64_t> features, yes, no, roots(forest.roots.begin(), forest.roots.end()), nan_sides;
  std::vector<float> splits, weights(static_cast<std::size_t>(count * targets));
  for (std::size_t i = 0; i < list.size(); ++i) {
    features.push_back(list[i].feature);
    yes.push_back(list[i].yes);
    no.push_back(list[i].no);
    splits.push_back(list[i].split);
    nan_sides.push_back(list[i].nan_goes_yes ? list[i].yes : list[i].no);
    if (i >= forest.items.size()) continue;
    for (const Forest::Vote& vote : forest.items[i].votes) {
      if (vote.target < 0 || vote.target >= targets) return nullptr;
      weights[static_cast<std::size_t>(static_cast<std::int64_t>(i) * targets + vote.target)] +=
          static_cast<float>(vote.weight);
    }
  }
  const bool minds_nan = std::ranges::any_of(list, &Branch::nan_goes_yes);
  Value *feature_of = g.ints(features), *yes_of = g.ints(yes), *no_of = g.ints(no);
  Value* split_of = g.constant(Tensor::of<float>({count}, splits));
  Value* nan_side_of = minds_nan ? g.ints(nan_sides) : nullptr;
  // All examples begin at all roots: [N, trees].
  Value* examples = g.op("Shape", {x}, {{"end", 1}});
  Value* dims = g.concat({examples, g.ints({static_cast<std::int64_t>(roots.size())})}, 0);
  Value* at = g.op("Expand", {g.ints(roots), dims});
  for (int step = 0; step < *depth; ++step) {
    Value* feature = g.op("Gather", {feature_of, at});
    Value* number = g.op("GatherElements", {x, feature}, {{"axis", 1}});
    Value* split = g.op("Gather", {split_of, at});
    Value* is_yes = g.op("LessOrEqual", {number, split});
    Value *to_yes = g.op("Gather", {yes_of, at}), *to_no = g.op("Gather", {no_of, at});
    Value* next = g.where(is_yes, to_yes, to_no);
    if (minds_nan) {
      Value* is_nan = g.op("IsNaN", {number});
      next = g.where(is_nan, g.op("Gather", {nan_side_of, at}), next);
    }
    at = next;
  }
  Value* votes = g.op("Gather", {g.constant(Tensor::of<float>({count, targets}, weights)), at});
  return g.reduce_sum(votes, {1}, false);
}

}  // namespace ingot::ops
