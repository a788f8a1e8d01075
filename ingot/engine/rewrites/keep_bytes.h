#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Convolutions, products with constant matrices, sums and means between DequantizeLinear and QuantizeLinear of 8 bits
/// become ByteConv, ByteSum and ByteMean of the engine's domain, which compute in integers, on channels last. Before
/// constants are folded: weights must still be bytes.
void keep_bytes(Graph& graph);

}  // namespace ingot::engine
