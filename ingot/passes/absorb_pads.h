#pragma once
#include "ingot/ir/graph.h"

namespace ingot::passes {

/// A Pad of spatial axes that only convolutions and pools read becomes their own padding, where that is the same:
/// zeros before a Conv or an AveragePool, which then counts them, and before a MaxPool what no maximum comes from.
/// Returns how many were taken out.
std::size_t absorb_pads(Graph& graph);

}  // namespace ingot::passes
