#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Resize as weighted sums of neighbours, in double, for what older versions cannot say: antialias, coordinates
/// 'half_pixel_symmetric', sizes that keep the aspect ratio. {} for all other nodes.
Values decompose_resize(DecomposeContext& c);

}  // namespace ingot::ops
