#pragma once
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Checks scale (input 1) and zero point (input 2) against input 0: per tensor, per axis or per block.
void check_scales(const InferContext& c);
/// Attribute output_dtype; undefined when it is absent or 0.
DType output_dtype(const InferContext& c);

/// The axis along which scales vary, counted from the front, 0 where there is but one; nothing: ranks that spread()
/// needs are not known or do not fit.
std::optional<std::int64_t> spread_axis(const DecomposeContext& c);
/// The scale or zero point, given per tensor, axis or block, in a shape that broadcasts against input 0.
Value* spread(DecomposeContext& c, Value* parameter, std::int64_t axis);

}  // namespace ingot::ops
