#pragma once
#include <cstdint>
#include <optional>

#include "ingot/ir/model.h"

namespace ingot::driver {

/// Twins of a model that differ from it by no more than rounding, to measure what rounding does to its results.
/// The same in double: inputs stay as they are, outputs become double.
Model in_double(const Model& model);
/// With each rounding of a quantised model shaken by up to half a step; nothing if the model is not quantised.
std::optional<Model> with_shaken_steps(const Model& model, std::uint32_t seed);

}  // namespace ingot::driver
