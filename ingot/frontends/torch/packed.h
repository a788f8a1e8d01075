#pragma once
#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {

/// The length of each sequence of a packed one, by how many there are at each step.
Value* packed_lengths(GraphBuilder& g, Value* batch_sizes);

}  // namespace ingot::frontends::torch
