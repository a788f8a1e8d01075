#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Convolutions, products with constant matrices, sums, means and largest of windows between DequantizeLinear and
/// QuantizeLinear of 8 bits become ByteConv, ByteProduct, ByteSum, ByteMean and ByteMax of the engine's domain, which
/// compute in integers, those of images on channels last. What only moves numbers moves the bytes. Before constants are
/// folded: weights must still be bytes.
void keep_bytes(Graph& graph);

}  // namespace ingot::engine
