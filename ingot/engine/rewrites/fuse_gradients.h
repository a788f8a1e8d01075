#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Gives what training steps are made of, in plain operators, to fast kernels: convolutions of exchanged batches and
/// channels, which are gradients by weights, products with matrices that change, and gradients of Relu ("Gate" of the
/// engine's domain).
void fuse_gradients(Graph& graph);

}  // namespace ingot::engine
