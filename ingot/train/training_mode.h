#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/ir/graph.h"

namespace ingot::train {

/// A running statistic, and the name of the value that it becomes.
using Statistic = std::pair<Value*, std::string>;

/// Operators that behave otherwise in training do so; running statistics become state.
std::vector<Statistic> enter_training_mode(Graph& graph);

}  // namespace ingot::train
