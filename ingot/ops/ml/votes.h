#pragma once
#include <cmath>
#include <functional>
#include <span>

#include "ingot/ops/ml/forest.h"
#include "ingot/ops/ml/scores.h"

// How trees decide at run time.

namespace ingot::ops {

/// Whether a branch of this mode (an index into kTreeModes) goes to its true side.
inline bool goes_true(std::size_t mode, double x, double split, bool missing_goes_true) {
  if (missing_goes_true && std::isnan(x)) return true;
  switch (mode) {
    case 0:
      return x <= split;
    case 1:
      return x < split;
    case 2:
      return x >= split;
    case 3:
      return x > split;
    case 4:
      return x == split;
    default:
      return x != split;
  }
}

enum class Aggregate { average, sum, min, max };

/// The votes of many trees for the targets of one example.
class Ballot {
 public:
  Ballot(std::size_t targets, Aggregate aggregate) : totals_(targets), counts_(targets), aggregate_(aggregate) {}
  void clear();
  void add(const KernelContext& c, std::int64_t target, double weight);
  /// Targets that got no vote have 0.
  void finish(std::span<double> scores, std::size_t trees) const;
  bool has_vote(std::size_t target) const { return counts_[target] != 0; }

 private:
  std::vector<double> totals_;
  std::vector<std::size_t> counts_;
  Aggregate aggregate_;
};

/// Adds the votes of the leaf that the example reaches in each tree.
void vote(const KernelContext& c, const Forest& forest, std::span<const double> row, Ballot& ballot);

/// Scores [N, targets] of all examples; `finish` gets those of each example, in order, to make the last of them.
Array forest_scores(KernelContext& c, const Examples& x, const Forest& forest, std::size_t targets, Aggregate aggregate,
                    const std::function<void(std::span<double>, const Ballot&)>& finish);

/// base_values or base_values_as_tensor; empty where there are none.
std::vector<double> base_values_of(const KernelContext& c);

}  // namespace ingot::ops
