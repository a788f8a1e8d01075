#pragma once
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// Gives products of matrices that change from run to run, as those of training steps do, to a kernel of their own
/// ("Product" of the engine's domain), which reads its operands turned and takes in what follows: a row that is added,
/// a matrix that is added, a limit, a change of axes.
void fuse_products(Graph& graph);

}  // namespace ingot::engine
