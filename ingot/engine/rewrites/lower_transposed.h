#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Writes transposed convolutions with constant weights, whose result is `stride` times as large as their input, as
/// convolutions that make a block of results at each position of the input, and DepthToSpace.
void lower_transposed(Graph& graph);

/// An attribute of such a convolution: many of its weights are zeros that stand for nothing, so that what meets them
/// need not be multiplied.
inline constexpr const char* kHasGaps = "has_gaps";

}  // namespace ingot::engine
