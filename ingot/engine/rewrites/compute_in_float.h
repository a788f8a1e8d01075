#pragma once
#include "ingot/engine/ledger.h"
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Nodes on float16 and bfloat16 become nodes on float: numbers are widened where they come in or are read from half
/// values and rounded where they go out, or where a node that cannot be float reads them. Between two such places
/// nothing is rounded to half.
void compute_in_float(Graph& root, Ledger& ledger);

}  // namespace ingot::engine
