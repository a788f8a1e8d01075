#pragma once
#include "ingot/ops/kernel.h"

namespace ingot::ops {

/// Einsum of any equation: floats are summed in double precision, integers wrap around.
void run_einsum(KernelContext& c);

}  // namespace ingot::ops
