#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Pow with a constant exponent that products, roots and reciprocals make becomes these.
void lower_powers(Graph& graph);

}  // namespace ingot::engine
