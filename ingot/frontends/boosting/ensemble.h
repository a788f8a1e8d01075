#pragma once
#include <span>

#include "ingot/formats/boosting/model.h"
#include "ingot/ops/builder.h"

namespace ingot::frontends::boosting {

/// The sums [N, groups] of the leaves that rows of x [N, features] reach, as one TreeEnsemble in the type of x, float
/// or double. Thresholds are rounded so that every float goes the way that it goes by the threshold itself.
Value* tree_sums(GraphBuilder& g, Value* x, std::span<const formats::boosting::Tree> trees, std::int64_t groups);

/// The number of the leaf, among the nodes of its tree, that each row reaches in each tree: [N, trees] int64.
Value* tree_leaves(GraphBuilder& g, Value* x, std::span<const formats::boosting::Tree> trees);

}  // namespace ingot::frontends::boosting
