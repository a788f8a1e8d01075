#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ingot/ir/graph.h"

namespace ingot {

// What is known of a value before anything runs.

std::optional<std::int64_t> rank_of(const Value* value);
/// The size of an axis, which may count from the end.
std::optional<std::int64_t> dim_of(const Value* value, std::int64_t axis);
/// The elements of an integer or boolean value of rank 0 or 1, when all are known.
std::optional<std::vector<std::int64_t>> known_ints(const Value* value);

}  // namespace ingot
