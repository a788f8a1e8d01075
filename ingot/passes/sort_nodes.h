#pragma once
#include "ingot/ir/graph.h"

namespace ingot::passes {

/// Puts nodes behind what they read, in all nested graphs too: files may have them in any order. Throws on a cycle.
void sort_nodes(Graph& graph);

}  // namespace ingot::passes
