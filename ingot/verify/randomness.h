#pragma once
#include <string>
#include <unordered_set>

#include "ingot/ir/model.h"

namespace ingot::verify {

/// A node that draws random numbers for an output, in the words of the model's source; empty if none does. Each runtime
/// draws its own.
std::string random_origin(const Model& model, const std::string& output);

/// The values of the main graph that depend on random numbers.
std::unordered_set<std::string> random_values(const Model& model);

}  // namespace ingot::verify
