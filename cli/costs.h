#pragma once
#include "ingot/base/json.h"
#include "ingot/driver/costs.h"

namespace ingot::cli {

/// What each node costs, in the order in which they run, for people.
void print_costs(const driver::Costs& costs, bool shows_operations, bool shows_memory);
Json costs_json(const driver::Costs& costs);

}  // namespace ingot::cli
