#pragma once
#include "ingot/ir/graph.h"

namespace ingot::passes::legalize {

/// Replaces sequences whose members are known by those; returns the number of nodes that changed.
std::size_t resolve_sequences(Graph& graph);

}  // namespace ingot::passes::legalize
