#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Puts one node "Quantized" of the engine's domain in place of each QuantizeLinear whose result is only dequantised
/// with the same constant scale and zero point: floats stay floats, and what stands before and behind it can be fused.
void fuse_quantization(Graph& graph);

}  // namespace ingot::engine
