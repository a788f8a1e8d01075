// How trees decide at run time.
#include "ingot/ops/ml/votes.h"

#include <algorithm>

#include "ingot/base/budget.h"

namespace ingot::ops {

void Ballot::clear() {
  std::ranges::fill(totals_, 0.0);
  std::ranges::fill(counts_, 0);
}

void Ballot::add(const KernelContext& c, std::int64_t target, double weight) {
  if (target < 0 || target >= std::ssize(totals_)) c.fail("a weight belongs to a target that does not exist");
  const auto at = static_cast<std::size_t>(target);
  double& total = totals_[at];
  if (counts_[at]++ == 0 || aggregate_ == Aggregate::sum || aggregate_ == Aggregate::average)
    total += weight;
  else
    total = aggregate_ == Aggregate::min ? std::min(total, weight) : std::max(total, weight);
}

void Ballot::finish(std::span<double> scores, std::size_t trees) const {
  const double divisor = aggregate_ == Aggregate::average ? static_cast<double>(trees) : 1;
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = counts_[i] == 0 ? 0 : totals_[i] / divisor;
}

void vote(const KernelContext& c, const Forest& forest, std::span<const double> row, Ballot& ballot) {
  for (const std::size_t root : forest.roots) {
    const Forest::Item* item = &forest.items[root];
    while (!item->is_leaf) {
      if (item->feature < 0 || item->feature >= std::ssize(row))
        c.fail("a branch asks for a feature that does not exist");
      const double x = row[static_cast<std::size_t>(item->feature)];
      item = &forest.items[goes_true(item->mode, x, item->split, item->missing_goes_true) ? item->yes : item->no];
    }
    for (const Forest::Vote& v : item->votes) ballot.add(c, v.target, v.weight);
  }
}

Array forest_scores(KernelContext& c, const Examples& x, const Forest& forest, std::size_t targets, Aggregate aggregate,
                    const std::function<void(std::span<double>, const Ballot&)>& finish) {
  Array scores = scratch(c, DType::f64, {x.count, static_cast<std::int64_t>(targets)});
  Ballot ballot(targets, aggregate);
  for (std::int64_t n = 0; n < x.count; ++n) {
    c.host().budget().poll();
    ballot.clear();
    vote(c, forest, x.row(n), ballot);
    const auto own = scores.mutable_data<double>().subspan(static_cast<std::size_t>(n) * targets, targets);
    ballot.finish(own, forest.roots.size());
    finish(own, ballot);
  }
  return scores;
}

std::vector<double> base_values_of(const KernelContext& c) {
  if (const auto* tensor = c.node.attributes.get<Tensor>("base_values_as_tensor")) return tensor->to_doubles();
  return floats_of(c, "base_values");
}

}  // namespace ingot::ops
