#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// softmax(q * k' * scale + mask) * v over heads, with the transposes around it, becomes one node "Attention" of the
/// engine's domain: queries, keys and values as [batch, time, head, size], and so the result.
void fuse_attention(Graph& graph);

}  // namespace ingot::engine
