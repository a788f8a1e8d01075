#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "ingot/ops/builder.h"

namespace ingot::ops {

/// How nodes compare, in the order in which TreeEnsemble counts them.
inline constexpr std::array<std::string_view, 6> kTreeModes = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                               "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
/// Forests of more nodes are refused.
inline constexpr std::size_t kMostTreeItems = std::size_t{1} << 26;

/// The trees of TreeEnsembleRegressor, TreeEnsembleClassifier and TreeEnsemble in one form.
struct Forest {
  struct Vote {
    std::int64_t target;
    double weight;
  };
  /// A branch, or a leaf with votes.
  struct Item {
    bool is_leaf = false;
    std::uint8_t mode = 0;  // index into kTreeModes
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
  /// Whether each of so many targets gets a vote for every example: in some tree all leaves have one for it.
  bool reaches_all(std::int64_t targets) const;
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
