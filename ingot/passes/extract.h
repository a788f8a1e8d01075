#pragma once
#include <string>
#include <vector>

#include "ingot/ir/model.h"

namespace ingot::passes {

/// Keeps what lies between the values named: `inputs` become the inputs, in that order, followed by those of the model
/// that are still needed; `outputs` become the outputs. An empty list leaves that end alone. Works on any operator set;
/// refuses names that the model does not have, constants as inputs, and models with training information.
void extract(Model& model, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

}  // namespace ingot::passes
