#pragma once
#include <string>
#include <unordered_map>

#include "ingot/ir/model.h"

namespace ingot::train {

/// Copies a whole model into a graph: its inputs become the values given by name, which must be of its types; new names
/// begin with `prefix`. Returns its outputs by name. Inputs that are not given must have defaults.
std::unordered_map<std::string, Value*> splice(const Model& model,
                                               const std::unordered_map<std::string, Value*>& inputs, Graph& into,
                                               const std::string& prefix);

}  // namespace ingot::train
