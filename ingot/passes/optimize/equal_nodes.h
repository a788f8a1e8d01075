#pragma once
#include "ingot/ir/graph.h"

namespace ingot::passes {

/// Nodes of one graph that compute the same from the same become one, and equal constants too; outputs of the graph
/// keep their names. Random operators and nodes with subgraphs stay. Returns how many nodes and constants went.
std::size_t share_equal(Graph& graph);

}  // namespace ingot::passes
