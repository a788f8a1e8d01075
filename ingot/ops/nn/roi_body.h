#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// The mean of samples in regions by products with their weights along each axis; the largest by picking them.
Values decompose_roi_align(DecomposeContext& c);
/// The largest element of each bin, row by row.
Values decompose_max_roi_pool(DecomposeContext& c);

}  // namespace ingot::ops
