#pragma once
#include "ingot/ops/kernel.h"

namespace ingot::ops {

/// GridSample in any number of dimensions.
void run_grid_sample(KernelContext& c);

}  // namespace ingot::ops
