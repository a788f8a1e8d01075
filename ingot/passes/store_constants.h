#pragma once
#include "ingot/ir/model.h"

namespace ingot::passes {

/// Constant nodes become weights of their graphs, by the same names: two ways to say one thing, of which exporters
/// take either. Those that are an output of their graph stay, and those of functions, which have no weights.
void store_constants(Graph& graph);

}  // namespace ingot::passes
