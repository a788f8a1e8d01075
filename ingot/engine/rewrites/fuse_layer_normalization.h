#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Puts one LayerNormalization in place of the operators that exporters without it write: (x - mean) / sqrt(variance +
/// epsilon) * scale + bias over the last axis of floats.
void fuse_layer_normalization(Graph& graph);

}  // namespace ingot::engine
