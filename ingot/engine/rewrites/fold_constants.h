#pragma once
#include <functional>

#include "ingot/base/budget.h"
#include "ingot/engine/ledger.h"
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Computes what is the same in every run, in the graph and all graphs nested in it, in memory of the ledger.
/// `keeps`: what is not computed although its inputs are constant; empty: nothing.
void fold_constants(Graph& root, Ledger& ledger, Budget& budget, std::function<bool(const Node&)> keeps = {});

}  // namespace ingot::engine
