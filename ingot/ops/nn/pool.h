#pragma once
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Infers outputs 0 and, where there is one, 1 of a pool over windows of input 0.
void infer_pool(InferContext& c);
/// All spatial sizes become 1.
void infer_global_pool(InferContext& c);

/// Down to a version without dilations: those of 1 are dropped; with others the node is decomposed or refused.
void drop_dilations(StepContext& c);
/// The sum over each window of x, which has the shape of input 0 and counts as 0, or as 1, in explicit padding. Null
/// where the last windows may reach beyond the padding (ceil_mode) and how far is not known, or the rank is not known.
Value* window_sums(DecomposeContext& c, Value* x, DType elem, bool padding_is_one = false);
/// `p` was a float in LpPool-1 and GlobalLpPool-1.
void norm_order_to_int(StepContext& c);
void norm_order_to_float(StepContext& c);

}  // namespace ingot::ops
