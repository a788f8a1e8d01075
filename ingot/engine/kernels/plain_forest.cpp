// What all layouts of trees share: votes, and how rows are shared out among threads.
#include "ingot/engine/kernels/plain_forest.h"

#include <algorithm>
#include <utility>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"

namespace ingot::engine {

template <class Types> ForestVotes<Types>::ForestVotes(const PlainForest<Types>& forest) {
  for (const Vote& vote : forest.votes) {
    weights_.push_back(vote.weight);
    targets_.push_back(vote.target);
  }
  for (const auto& tree : forest.trees) is_dense_ &= std::cmp_equal(tree.votes, forest.targets);
  all_targets_ = static_cast<std::size_t>(forest.targets);
  for (std::size_t i = 0; i < targets_.size() && is_dense_; ++i) is_dense_ = targets_[i] == i % all_targets_;
  if (is_dense_) targets_ = {};
}

template <class Types> void ForestNode<Types>::run(ops::KernelContext& c, ThreadPool& pool) const {
  const Array& x = c.in(0);
  if (x.dtype() != dtype_of<Input> || x.rank() < 1 || x.rank() > 2)
    c.fail("the input is not of the type that was inferred");
  const std::int64_t rows = x.rank() == 1 ? 1 : x.dims()[0], features = x.dims().back();
  for (const auto& column : columns_)
    if (column.feature >= features) c.fail("a branch asks for a feature that does not exist");
  Array y = make_raw(c, 0, dtype_of<Input>, {rows, targets_});
  const Input* in = x.template data<Input>().data();
  Input* out = y.template mutable_data<Input>().data();
  const Budget& budget = c.host().budget();
  // Few rows and a tree stay in the first-level cache; of many, each piece takes the whole forest through the others.
  const std::int64_t piece = std::clamp<std::int64_t>(rows / 8 / kForestRows * kForestRows, 128, 1024);
  pool.parallel_for(rows, piece, [&](std::int64_t begin, std::int64_t end) {
    budget.poll();
    block(in + begin * features, features, end - begin, out + begin * targets_);
  });
}

template <class Types>
void ForestNode<Types>::block(const Input* x, std::int64_t features, std::int64_t rows, Input* out) const {
  std::vector<double> sums(static_cast<std::size_t>(rows * targets_), 0.0);
  const bool is_single = rows < kForestRows;
  const std::int64_t groups = (rows + kForestRows - 1) / kForestRows;
  std::vector<Scalar> values(group_size() * static_cast<std::size_t>(groups));
  const auto gather = [&](std::int64_t row, Scalar* to) {
    const Input* from = x + row * features;
    for (const auto& column : columns_) {
      *to = static_cast<Scalar>(column.is_negated ? -from[column.feature] : from[column.feature]);
      to += kForestRows;
    }
  };
  if (is_single) {
    for (std::int64_t row = 0; row < rows; ++row) {
      gather(row, values.data());
      add_votes(values.data(), sums.data() + row * targets_);
    }
  } else {
    for (std::int64_t i = 0; i < groups * kForestRows; ++i)
      gather(std::min(i, rows - 1),
             values.data() + static_cast<std::size_t>(i / kForestRows) * group_size() + i % kForestRows);
    add_votes(values.data(), groups, rows, sums.data());
  }
  for (std::size_t i = 0; i < sums.size(); ++i) out[i] = static_cast<Input>(sums[i] / divisor_);
}

template class ForestVotes<FloatForest>;
template class ForestNode<FloatForest>;
template class ForestVotes<DoubleForest>;
template class ForestNode<DoubleForest>;
template class ForestVotes<MixedForest>;
template class ForestNode<MixedForest>;

}  // namespace ingot::engine
