#pragma once
#include "ingot/ops/kernel.h"

namespace ingot::ops {

/// Resize: one axis after the other, in double precision.
void run_resize(KernelContext& c);

}  // namespace ingot::ops
