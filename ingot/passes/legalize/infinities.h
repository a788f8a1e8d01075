#pragma once
#include "ingot/ir/graph.h"

namespace ingot::passes::legalize {

/// For targets whose sums and maxima end at the largest float: infinity + 1 is 3.4e38 there, and the maximum of
/// -infinity alone is -3.4e38. Where a graph works with infinities on purpose (masks of attention, and what asks for
/// them), such nodes are written so that infinities stay what they are. The graph must be of the newest operator set
/// with types inferred.
void keep_infinities(Graph& graph);

}  // namespace ingot::passes::legalize
