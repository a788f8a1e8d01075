#pragma once
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Infers outputs 0 and, where there is one, 1 of a pool over windows of input 0.
void infer_pool(InferContext& c);
/// All spatial sizes become 1.
void infer_global_pool(InferContext& c);

/// Down to a version without dilations: those of 1 are dropped, others are refused.
void drop_dilations(StepContext& c);
/// `p` was a float in LpPool-1 and GlobalLpPool-1.
void norm_order_to_int(StepContext& c);
void norm_order_to_float(StepContext& c);

}  // namespace ingot::ops
