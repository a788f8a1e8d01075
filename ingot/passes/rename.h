#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/ir/model.h"

namespace ingot::passes {

/// Renames values of the main graph, also where they are mentioned by name: in the training bindings, in quantization
/// annotations and in the Gradient operator. Refuses names that do not exist or are taken.
void rename_values(Model& model, const std::vector<std::pair<std::string, std::string>>& renames);

}  // namespace ingot::passes
