#pragma once
#include <set>
#include <string>

#include "ingot/ir/model.h"
#include "ingot/passes/legalize/legalize.h"

namespace ingot::backends::torch {

/// What the module of a model is made of, by the names of the source's initializers.
struct Holdings {
  std::set<std::string, std::less<>> parameters;  // what gradients move
  std::set<std::string, std::less<>> buffers;     // the rest

  bool has(std::string_view name) const { return parameters.contains(name) || buffers.contains(name); }
};

/// Real numbers with a shape are parameters, unless their readers take them for statistics, scales or bounds.
Holdings holdings_of(const Graph& graph);

/// PyTorch as a target. What is computed of the module's larger tensors stays computed: gradients reach them.
passes::legalize::Target target_for(const Holdings& holdings);

}  // namespace ingot::backends::torch
