#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Nodes that compute the same from the same values become one; what they draw at random is not the same.
void eliminate_common_subexpressions(Graph& graph);

}  // namespace ingot::engine
