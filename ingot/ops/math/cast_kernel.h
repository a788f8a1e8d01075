#pragma once
#include "ingot/ops/compute.h"

namespace ingot::ops {

/// Cast of input 0 to a type, with the node's attributes saturate and round_mode.
void run_cast_to(KernelContext& c, DType to);

}  // namespace ingot::ops
