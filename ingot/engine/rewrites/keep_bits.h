#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Products of floats with a constant matrix of integers of 4 or 8 bits, behind a DequantizeLinear, become Linear nodes
/// that read the integers.
void keep_bits(Graph& graph);

}  // namespace ingot::engine
