#pragma once
#include "ingot/ir/graph.h"

namespace ingot::ops {

struct Schema;

/// Whether a node has what a version of its operator says it has: the inputs and outputs that must be there, no more
/// than there may be, required attributes, and all of the types stated. Steps, decompositions and gradients rely on it.
/// Returns what is wrong; empty: nothing.
std::string flaw_of(const Node& node, const Schema& schema);

/// Throws what is wrong with a node of the newest version of its operator. Unknown operators have no flaws.
void require_well_formed(const Node& node);
/// The same for all nodes of a graph and of those nested in it; what they read and give must be defined.
void require_well_formed(Graph& graph);

}  // namespace ingot::ops
