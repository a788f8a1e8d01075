#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/ops/builder.h"

namespace ingot::ops {

/// What the parameters of an activation are called, in their order.
std::vector<std::string_view> parameters_of_activation(std::string_view name);

/// An activation that another operator takes in, with its parameters in the order of the operator's attributes; those
/// missing have their defaults. Null: there is no such activation, or it does not take so many.
Value* activated(GraphBuilder& g, Value* x, const std::string& activation, const std::vector<float>& parameters);

}  // namespace ingot::ops
