#pragma once
#include <vector>

#include "ingot/ops/ml/forest.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {

// From TreeEnsembleRegressor and TreeEnsembleClassifier to TreeEnsemble.

/// The type to compute in: double where the input, thresholds or weights are.
DType working_type(const StepContext& c, const Forest& forest);
/// base_values, one per target; empty when there are none.
std::vector<double> base_values(StepContext& c, std::int64_t targets);
/// post_transform: its number in TreeEnsemble, or one of those that an operator of its own does after it, which
/// leaves room for base values, and since runtimes disagree on their numbers.
struct Transform {
  std::int64_t number = 0;
  bool is_softmax = false, is_logistic = false;
};
Transform transform_of(StepContext& c);
Value* transformed(GraphBuilder& g, Value* scores, const Transform& transform);
/// Adds a tree of one leaf for each value: the same as adding the value to the sum.
void add_constant_trees(Forest& forest, const std::vector<double>& values);
/// A TreeEnsemble node over input 0.
Value* ensemble(StepContext& c, const Forest& forest, std::int64_t targets, std::int64_t aggregate,
                std::int64_t transform);
/// A constant [1, n].
Value* row(GraphBuilder& g, const std::vector<double>& values, DType elem);

}  // namespace ingot::ops
