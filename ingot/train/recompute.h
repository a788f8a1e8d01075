#pragma once
#include "ingot/ir/graph.h"

namespace ingot::train {

/// Metadata of nodes that compute again what another node has computed before, on purpose.
inline constexpr const char* kRecomputed = "ingot.recompute";

/// Trades time for memory: what the nodes after `last_forward` read of the forward pass is computed again, stretch by
/// stretch, shortly before it is read, so that only the values between stretches stay in memory. Random draws and what
/// subgraphs read are kept. Returns the number of nodes added.
std::size_t recompute_activations(Graph& graph, const Node* last_forward);

}  // namespace ingot::train
