#pragma once
#include <vector>

#include "ingot/ir/graph.h"

namespace ingot::backends {

/// Adds the values of outer graphs that a graph and those nested in it read, constants aside, in the order of reading.
void collect_captured(Graph& root, std::vector<const Value*>& captured);

}  // namespace ingot::backends
