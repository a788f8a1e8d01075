#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Batch normalisation by the statistics of the batch, together with what is added to it and a limit, becomes one node,
/// and so does its gradient, which then needs no statistics of its own.
void fuse_trained_normalization(Graph& graph);

}  // namespace ingot::engine
