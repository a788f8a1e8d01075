#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// GridSample of up to three spatial dimensions by GatherND and arithmetic.
Values decompose_grid_sample(DecomposeContext& c);

}  // namespace ingot::ops
