#pragma once
#include "ingot/ir/graph.h"

namespace ingot::passes::legalize {

/// Whether the node hands its first input on and does nothing else.
bool does_nothing(const Node& node);

/// Takes such a node out, where the names outside allow it; else it becomes an Identity. False: it was one before.
bool take_out_nothing(Node& node);

/// Takes a node out whose output is its input; the name of an output of the graph moves to the value that it carried.
/// False: names from outside to outside, which stay.
bool take_out_identity(Node& node);

}  // namespace ingot::passes::legalize
