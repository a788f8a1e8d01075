#pragma once
#include <memory>
#include <vector>

#include "ingot/engine/fast_kernel.h"
#include "ingot/ops/ml/plain_forest.h"

namespace ingot::engine {

using ops::DoubleForest;
using ops::FloatForest;
using ops::MixedForest;
using ops::PlainForest;

constexpr std::int64_t kForestRows = 8;  // that go down a tree together: each waits for memory alone

/// Two numbers side by side, which are converted and added at once.
using FloatPair = float __attribute__((vector_size(2 * sizeof(float)), aligned(alignof(float)), may_alias));
using DoublePair = double __attribute__((vector_size(2 * sizeof(double)), aligned(alignof(double)), may_alias));
template <class T> struct PairOf { using Type = DoublePair; };
template <> struct PairOf<float> { using Type = FloatPair; };

/// What leaves add to the sums of a row. Where each has as many votes as there are targets, one for each in order, as
/// classes have, the targets are not read.
template <class Types> class ForestVotes {
 public:
  using Vote = typename PlainForest<Types>::Vote;
  ForestVotes() = default;
  explicit ForestVotes(const PlainForest<Types>& forest);

  void add(std::size_t first, std::size_t count, double* sums) const {
    if (is_dense_)
      for (std::size_t i = 0; i < count; ++i) sums[i] += static_cast<double>(weights_[first + i]);
    else
      for (std::size_t i = 0; i < count; ++i) sums[targets_[first + i]] += static_cast<double>(weights_[first + i]);
  }
  /// The same for rows of which each has its leaf.
  void add(const std::uint64_t* firsts, std::size_t rows, std::size_t count, double* sums) const {
    if (is_dense_ && count == 1) return add_dense<1>(firsts, rows, sums);
    if (is_dense_ && count == 2) return add_dense<2>(firsts, rows, sums);
    for (std::size_t row = 0; row < rows; ++row) add(firsts[row], count, sums + row * all_targets_);
  }
  const typename Types::Weight* weights() const { return weights_.data(); }

 private:
  template <std::size_t Count> void add_dense(const std::uint64_t* firsts, std::size_t rows, double* sums) const {
    const auto* weights = weights_.data();
    if constexpr (Count == 2) {
      using Weights = typename PairOf<typename Types::Weight>::Type;
      for (std::size_t row = 0; row < rows; ++row)
        reinterpret_cast<DoublePair*>(sums)[row] +=
            __builtin_convertvector(*reinterpret_cast<const Weights*>(weights + firsts[row]), DoublePair);
    } else {
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t i = 0; i < Count; ++i) sums[row * Count + i] += static_cast<double>(weights[firsts[row] + i]);
    }
  }

  std::vector<typename Types::Weight> weights_;
  std::vector<std::uint32_t> targets_;
  std::size_t all_targets_ = 1;
  bool is_dense_ = true;
};

/// What all layouts of trees share: rows in pieces, the values of their columns side by side.
template <class Types> class ForestNode : public PreparedNode {
 public:
  using Plain = PlainForest<Types>;
  using Scalar = typename Types::Scalar;
  using Input = typename Types::Input;
  explicit ForestNode(const Plain& forest)
      : columns_(forest.columns), targets_(forest.targets), divisor_(forest.divisor) {}
  void run(ops::KernelContext& c, ThreadPool& pool) const final;

 protected:
  /// Adds the votes of tree after tree for `count` rows. values[column * kForestRows + i]: of row i, of which all
  /// kForestRows have values.
  virtual void add_votes(const Scalar* values, std::int64_t groups, std::int64_t rows, double* sums) const = 0;
  /// The same for one row, the first.
  virtual void add_votes(const Scalar* values, double* sums) const = 0;

  std::int64_t targets() const { return targets_; }
  std::size_t columns() const { return columns_.size(); }
  std::size_t group_size() const { return columns_.size() * kForestRows; }
  static void add(const typename Plain::Vote* votes, std::size_t count, double* sums) {
    for (std::size_t i = 0; i < count; ++i) sums[votes[i].target] += static_cast<double>(votes[i].weight);
  }

 private:
  void block(const Input* x, std::int64_t features, std::int64_t rows, Input* out) const;

  std::vector<typename Plain::Column> columns_;
  std::int64_t targets_;
  double divisor_;
};

/// Whether trees whose leaves are all filled up to the depth of their tree would not be much larger.
template <class Types> bool are_nearly_full(const PlainForest<Types>& forest);
/// Such trees.
template <class Types> std::unique_ptr<PreparedNode> make_full_trees(const PlainForest<Types>& forest);

}  // namespace ingot::engine
