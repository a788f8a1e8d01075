#pragma once
#include "ingot/ops/kernel.h"

// What kernels that run graphs share.

namespace ingot::ops {

/// A graph of the node; refuses a node without it.
const Graph& graph_of(const KernelContext& c, std::string_view attribute);

/// Whether a condition, a single truth value, holds.
bool holds(const KernelContext& c, const Datum& condition);

/// A result of a graph as a tensor; refuses others.
const Array& tensor_of(const KernelContext& c, const Datum& result);

/// What the rounds of a loop gave for one output of its body, along a new axis. Without any round the shape is what is
/// known of the body's output; a dimension that is not known is 0.
Array collected(KernelContext& c, std::vector<Array> rounds, const Value* output, std::int64_t axis);

}  // namespace ingot::ops
