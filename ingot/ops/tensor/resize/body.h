#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Resize as weighted sums of neighbours, in double, for what older versions cannot say: antialias, coordinates
/// 'half_pixel_symmetric', sizes that keep the aspect ratio. {} for all other nodes.
Values decompose_resize(DecomposeContext& c);

/// What Resize makes of unit vectors along each of these axes, counted from the front: matrices [before, after].
Values resize_matrices(DecomposeContext& c, const std::vector<std::int64_t>& axes);

}  // namespace ingot::ops
