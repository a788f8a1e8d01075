#pragma once
#include <vector>

#include "ingot/engine/in_place.h"
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Elementwise operators that end in updates, such as those of an optimizer, become one node "Update" of the engine's
/// domain for all that one parameter needs. They run last, so that nothing else reads what they write over.
/// `output_names` are the graph's outputs as the user knows them.
void fuse_updates(Graph& graph, const std::vector<Update>& updates, const std::vector<std::string>& output_names);

bool is_update(const Node& node);

}  // namespace ingot::engine
