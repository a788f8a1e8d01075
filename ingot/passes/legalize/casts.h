#pragma once
#include "ingot/passes/legalize/legalize.h"

namespace ingot::passes::legalize {

/// Puts casts around nodes for whose types the target has no kernel, as far as the options allow it. Notes each.
void cast_for_target(Graph& graph, const Target& target, const Options& options, std::vector<std::string>& notes);

}  // namespace ingot::passes::legalize
