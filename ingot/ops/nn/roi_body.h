#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// The mean of samples in regions by products with their weights along each axis, for coordinates 'half_pixel', which
/// older versions do not know. {} for all other nodes.
Values decompose_roi_align(DecomposeContext& c);

}  // namespace ingot::ops
