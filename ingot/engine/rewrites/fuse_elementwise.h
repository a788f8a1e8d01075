#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Puts each elementwise operator on floats, together with those that only it reads, into one node "Elementwise" of the
/// engine's domain, which computes them tile by tile in the cache.
void fuse_elementwise(Graph& graph);

}  // namespace ingot::engine
