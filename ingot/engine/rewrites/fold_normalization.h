#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Writes batch normalisations with constant statistics as a product and a sum, but for those behind a convolution that
/// may take them in.
void lower_normalization(Graph& graph);

/// Multiplies what is left of them into the weights of the convolutions before them, else the same.
void fold_normalization(Graph& graph);

}  // namespace ingot::engine
