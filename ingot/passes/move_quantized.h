#pragma once
#include "ingot/ir/graph.h"

namespace ingot::passes {

/// An operator that only moves or picks elements (Reshape, Transpose, Slice, MaxPool, ...) and reads what one scale
/// dequantises reads the integers instead, and its result is dequantised: fewer bytes move, and some runtimes take the
/// other form for something else. Subgraphs too. Returns how many operators changed.
std::size_t move_quantized(Graph& graph);

}  // namespace ingot::passes
