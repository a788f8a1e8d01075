#pragma once
#include "ingot/engine/ledger.h"
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Makes the sparse initializers of the graph and of all graphs nested in it dense, in memory of the ledger: operators
/// know no sparse tensors, and such an initializer is used as any other.
void make_initializers_dense(Graph& root, Ledger& ledger);

}  // namespace ingot::engine
