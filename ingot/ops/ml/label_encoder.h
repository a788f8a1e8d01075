#pragma once
#include <optional>
#include <string>

#include "ingot/ir/graph.h"

namespace ingot::ops {

/// A LabelEncoder's keys_*, values_* or default_*, in whichever form they are given; nothing: in none.
std::optional<Tensor> label_list(const Attributes& attributes, const std::string& prefix);

}  // namespace ingot::ops
