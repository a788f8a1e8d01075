#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

// Softmax, LogSoftmax and Hardmax up to version 12 work on the input as a matrix, split before `axis` (default 1).
// From 13 on they work along one axis (default -1).

/// f12(x, axis) = Reshape(f13(Flatten(x, axis), -1), Shape(x)); the plain node where axis is the last.
void up_from_flattened_axis(StepContext& c);
/// f13(x, last axis) = f12(x, rank - 1); another axis is first moved to the end.
void down_to_flattened_axis(StepContext& c);

}  // namespace ingot::ops
