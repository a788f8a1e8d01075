#pragma once
#include <vector>

#include "ingot/ir/graph.h"

namespace ingot::passes {

/// These readers of `from` read `to` from now on. If outputs of the graph are among them, `to` takes the name and the
/// description over, which the outside knows.
void hand_over(const std::vector<Use>& readers, Value* from, Value* to);

}  // namespace ingot::passes
