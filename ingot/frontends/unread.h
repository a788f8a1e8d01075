#pragma once
#include "ingot/ir/model.h"

namespace ingot::frontends {

/// Translators leave constants behind that they only looked at, and casts that nobody reads in the end: takes out nodes
/// whose outputs nobody reads, and initializers that nobody reads, of the graph and of those in it.
void drop_unread(Graph& root);
/// The same of all graphs of a model, those that train first, since they read the values of the others.
void drop_unread(Model& model);

}  // namespace ingot::frontends
