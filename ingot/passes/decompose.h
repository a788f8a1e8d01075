#pragma once
#include <functional>

#include "ingot/ir/model.h"

namespace ingot::passes {

/// Expresses every operator for which `is_native` is false in simpler ones, again and again until nothing changes:
/// what then is not native has no decomposition. The model must be of the newest operator sets, with types
/// inferred. Returns the number of nodes replaced.
std::size_t decompose(Model& model, const std::function<bool(const Node&)>& is_native);
std::size_t decompose(Graph& graph, const std::function<bool(const Node&)>& is_native);

/// Puts the operator's own decomposition in place of the node; false: it has none for this node, and nothing changed.
/// The new nodes stand where the node stood.
bool decompose_node(Node& node);

}  // namespace ingot::passes
