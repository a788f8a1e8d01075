#pragma once
#include "ingot/ops/ml/forest.h"

namespace ingot::ops {

/// The summed votes [N, targets] of a forest over x [N, features], by tensor operators alone: all trees take one
/// branch at a time. Null where a tree is deeper than is sensible.
Value* forest_by_tensors(GraphBuilder& g, Value* x, const Forest& forest, std::int64_t targets);

}  // namespace ingot::ops
