#pragma once
#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {

/// Whether the value stands for a quantised tensor.
bool is_quantized(Value* value);

/// Of an operator that has one meaning for real and quantised tensors and computes new values: its result as PyTorch
/// rounds it, which is in the scheme of its operand, or in one of the operator's own.
Item requantized(const Call& call, Item result);

/// Eight bits over the range of the values that come, as dynamic quantisation does to activations.
Value* dynamically_rounded(GraphBuilder& g, Value* x);

}  // namespace ingot::frontends::torch
