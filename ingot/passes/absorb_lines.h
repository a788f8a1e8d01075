#pragma once
#include "ingot/ir/graph.h"

namespace ingot::passes {

/// Convolutions with constant weights take in what follows them channel by channel: constant sums, constant products
/// and batch normalisation with constant statistics. The last of those taken in gives the convolution its name and its
/// source. Nested graphs too. Returns how many nodes were taken in.
std::size_t absorb_lines(Graph& graph);

/// The same without nested graphs.
std::size_t absorb_own_lines(Graph& graph);

}  // namespace ingot::passes
