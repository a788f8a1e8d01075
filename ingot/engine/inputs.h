#pragma once
#include <string>
#include <vector>

#include "ingot/engine/named_datum.h"
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// The inputs of a run in the graph's order; an absent one is empty. Throws one Error that lists every problem:
/// unknown, repeated and missing names, wrong types and shapes, dimensions of one name with different sizes.
std::vector<Datum> ordered_inputs(const Graph& graph, const std::vector<NamedDatum>& given);

}  // namespace ingot::engine
