#pragma once
#include <functional>

#include "ingot/ir/model.h"

namespace ingot {

/// Takes out nodes whose outputs nobody reads, and initializers that nobody reads; subgraphs too. What `keeps` names
/// counts as read; empty: nothing. Returns the number of nodes taken out; none in a graph whose nodes form a cycle.
std::size_t drop_unread(Graph& graph, const std::function<bool(const Value&)>& keeps = {});

/// The same of all graphs of a model, those that train first, since they read the values of the others.
void drop_unread(Model& model);

}  // namespace ingot
