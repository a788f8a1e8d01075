#pragma once
#include "ingot/ops/infer.h"

namespace ingot::ops {

/// Checks scale (input 1) and zero point (input 2) against input 0: per tensor, per axis or per block.
void check_scales(const InferContext& c);
/// Attribute output_dtype; undefined when it is absent or 0.
DType output_dtype(const InferContext& c);

}  // namespace ingot::ops
