#pragma once
#include "ingot/ir/graph.h"

namespace ingot::passes::legalize {

/// Whether a value of the graph or its subgraphs is double.
bool has_doubles(Graph& graph);

/// All doubles become floats; for graphs in which only decompositions brought them. Returns the number of results.
std::size_t narrow_doubles(Graph& graph);

}  // namespace ingot::passes::legalize
