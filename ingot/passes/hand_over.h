#pragma once
#include <vector>

#include "ingot/ir/graph.h"

namespace ingot::passes {

/// The uses of `from` read `to` from now on, which also takes the name and the description if outputs of the graph are
/// among them: the outside knows those.
void hand_over(Value* from, Value* to, const std::vector<Use>& uses);

}  // namespace ingot::passes
