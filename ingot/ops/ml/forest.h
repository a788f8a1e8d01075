#pragma once
#include <vector>

#include "ingot/ops/builder.h"

namespace ingot::ops {

/// The trees of TreeEnsembleRegressor, TreeEnsembleClassifier and TreeEnsemble in one form.
struct Forest {
  struct Vote {
    std::int64_t target;
    double weight;
  };
  /// A branch, or a leaf with votes.
  struct Item {
    bool is_leaf = false;
    std::uint8_t mode = 0;  // as TreeEnsemble counts: LEQ, LT, GTE, GT, EQ, NEQ
    bool missing_goes_true = false;
    std::int64_t feature = 0;
    double split = 0;
    std::size_t yes = 0, no = 0;
    std::vector<Vote> votes;
  };
  std::vector<Item> items;
  std::vector<std::size_t> roots;  // one per tree
  DType elem = DType::f32;         // double where thresholds or weights are

  /// The most votes a leaf of this tree has; uneven: not all of its leaves have as many.
  struct Votes {
    std::size_t most = 0;
    bool is_uneven = false;
  };
  Votes votes_below(std::size_t root) const;
};

/// From the attributes nodes_* and <prefix>_* ("target", "class"); throws Error when they form no trees.
Forest read_forest(const Attributes& attributes, const std::string& prefix);
/// From the attributes of TreeEnsemble. Nothing: it tests for membership, or shares branches between trees.
std::optional<Forest> read_ensemble(const Attributes& attributes);

/// The attributes of TreeEnsemble. A tree whose leaves have several votes is repeated for each of them.
Attrs ensemble_attributes(const Forest& forest, DType elem);
/// The attributes nodes_* and <prefix>_*, with thresholds and weights as floats.
Attrs forest_attributes(const Forest& forest, const std::string& prefix);

}  // namespace ingot::ops
