#pragma once
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Inputs: learning rate, step count, then n values each of `groups` kinds (weights, gradients, states ...).
/// Outputs: the n new weights, then the n new values of each state.
void infer_optimizer(InferContext& c, std::size_t groups);

/// One weight's inputs while an optimizer is written out for it.
struct Update {
  Value* rate;   // a scalar of the weight's type
  Value* count;  // likewise
  Value* weight;
  Value* gradient;
  Values states;
};
/// Calls `update` for each weight; it returns the new weight and the new states. {} when types are not known.
Values decompose_optimizer(DecomposeContext& c, std::size_t groups, Values (*update)(DecomposeContext&, const Update&));

/// gradient + coefficient * weight: the derivative of an L2 penalty added.
Value* regularized(DecomposeContext& c, const Update& u);
/// A scalar of the weight's type.
Value* number(DecomposeContext& c, const Update& u, float value);

}  // namespace ingot::ops
