#pragma once
#include "ingot/ops/compute.h"

namespace ingot::ops {

/// Cast of input 0 to a type, with the node's attributes saturate and round_mode.
void run_cast_to(KernelContext& c, DType to);

/// An array of any real type, bool or strings in another of these.
Array cast_array(KernelContext& c, const Array& x, DType to, const Conversion& how = {});

}  // namespace ingot::ops
