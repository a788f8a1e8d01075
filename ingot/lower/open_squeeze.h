#pragma once
#include "ingot/ir/graph.h"

namespace ingot::lower {

/// PyTorch writes squeeze(axis) of an open size as an If: where the size is 1 the axis goes, else all stays. What
/// follows is made for one rank, so it becomes the Squeeze, which ends a run in which that size is another. Returns
/// how many there were.
std::size_t take_open_squeezes(Graph& graph);

}  // namespace ingot::lower
