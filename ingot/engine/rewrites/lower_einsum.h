#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Writes Einsum of floats whose sizes are known as products of matrices, which have fast kernels. True: there were
/// some, and constants among their operands may be left to be reordered.
bool lower_einsum(Graph& graph);

}  // namespace ingot::engine
