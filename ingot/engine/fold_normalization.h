#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Puts each BatchNormalization of floats with constant parameters into the convolution before it; where there is none,
/// a product and a sum with constants take its place. Names of values in between are lost: this is for plans, not
/// files.
void fold_normalization(Graph& graph);

}  // namespace ingot::engine
