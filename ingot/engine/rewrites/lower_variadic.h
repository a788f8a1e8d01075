#pragma once

namespace ingot {
class Graph;
}

namespace ingot::engine {

/// Sum, Mean, Max and Min of many operands as operators of two, which have fast kernels and are steps of chains.
void lower_variadic(Graph& graph);

}  // namespace ingot::engine
