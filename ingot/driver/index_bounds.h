#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/engine/named_datum.h"
#include "ingot/ir/model.h"

namespace ingot::driver {

/// The values that an input of integers may have, both ends included.
struct IndexBounds {
  std::int64_t least = 0, most = 0;
};

using Bounds = std::unordered_map<std::string, IndexBounds>;

/// Bounds of the model's int32 and int64 inputs, by name, as far as what they reach tells: the rows of the table that a
/// Gather picks from, the depth of a OneHot, the steps that a sequence's length may count, 0 and 1 for masks. Inputs
/// that reach nothing of the kind are not listed.
Bounds index_bounds(const Model& model);

/// random_inputs() of inputs.h, with bounds that are known from elsewhere.
std::vector<engine::NamedDatum> random_inputs(const Model& model, std::uint32_t seed,
                                              const std::vector<engine::NamedDatum>& given, const Bounds& bounds);

}  // namespace ingot::driver
