#pragma once
#include <optional>
#include <vector>

#include "ingot/passes/batch_rules.h"

namespace ingot::passes {

/// Which entry of a Reshape's target has the batch that its data have at `place`. Rows stay where they are in memory;
/// where that allows several entries, the one that such models usually mean. Nothing: none can.
std::optional<std::size_t> batch_entry(const Shape& shape, std::size_t place, const std::vector<std::int64_t>& target,
                                       bool copies, const BatchAxis& axis);

}  // namespace ingot::passes
