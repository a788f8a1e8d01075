#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Rewrites the convolutions of a graph (newest operator sets, types inferred) for oneDNN: batch normalisation goes
/// into the weights, the sum and the activation behind a convolution become a part of it, and the values between
/// convolutions, pools and elementwise operators are kept in blocks of channels.
void block_convolutions(Graph& graph);

}  // namespace ingot::engine
