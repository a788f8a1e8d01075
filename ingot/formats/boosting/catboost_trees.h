#pragma once
#include "ingot/formats/boosting/json.h"
#include "ingot/formats/boosting/model.h"

// What CatBoost's two kinds of files have in common.
namespace ingot::formats::boosting {

inline constexpr std::size_t kMostObliviousSplits = 16;

/// A tree that asks the same on each level, written out: the first question decides the lowest bit of the leaf's
/// number. `leaves` holds `width` values for each of its leaves.
Tree oblivious_tree(const std::vector<TreeNode>& levels, const std::vector<double>& leaves, std::size_t width);

/// The loss function among the parameters of the training.
std::string catboost_loss(const Json& params);
void read_catboost_classes(const Json& params, Model& model);
/// How its sums become predictions, by the objective; checks the trees.
void finish_catboost(Model& model);

}  // namespace ingot::formats::boosting
