#pragma once
#include <string_view>

#include "ingot/ops/builder.h"

// What gradients of nodes with subgraphs share.

namespace ingot::train {

/// The subgraph that the attribute holds.
Graph& body_of(const Node& node, std::string_view name);

/// Types of the node's outputs, after its inputs or its subgraphs have changed.
void infer_again(Node& node);

/// A gradient as an output of the builder's graph: made there, zeros of the shape of `like` where there is none.
void add_gradient_output(GraphBuilder& g, Value* gradient, Value* like);

}  // namespace ingot::train
