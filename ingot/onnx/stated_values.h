#pragma once
#include <vector>

#include "ingot/ir/graph.h"

namespace ingot::onnx {

/// The values whose types a graph states in its list of value infos, in the order in which they are written: neither
/// its inputs nor its outputs, which are stated in their own lists.
std::vector<const Value*> stated_values(const Graph& graph);

/// The same for a function, whose inputs and outputs are listed by name only.
std::vector<const Value*> stated_function_values(const Graph& body);

}  // namespace ingot::onnx
