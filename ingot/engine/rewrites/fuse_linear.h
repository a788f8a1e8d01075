#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Puts the bias, the sum and the limits behind a product with a constant matrix (MatMul, Gemm) into one node "Linear"
/// of the engine's domain: x, matrix, bias, residual; attributes transB, low, high.
void fuse_linear(Graph& graph);

}  // namespace ingot::engine
