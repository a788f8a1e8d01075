#pragma once
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Shape of output 0: input 0 without the dimensions in `axes` (input 1), or with 1 in their place. A fold over known
/// elements of a vector may be given, for shape arithmetic.
void infer_reduction(InferContext& c, Dim (*fold)(std::span<const Dim>));

// The axes were an attribute before version 18 (13 for ReduceSum).

/// The attribute becomes an input.
void up_to_axes_input(StepContext& c);
/// The reverse. `noop` builds what is left of the operator when no axes are reduced; null: the input itself.
void down_to_axes_attribute(StepContext& c, Value* (*noop)(GraphBuilder&, Value*));

/// A reduction whose axes (input 1) are computed as one along each single axis, taken where the axis is among them.
/// {} where the axes are constant or the rank is not known.
Values reduce_computed_axes(DecomposeContext& c);

}  // namespace ingot::ops
