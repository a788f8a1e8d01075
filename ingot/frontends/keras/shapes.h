#pragma once
#include <optional>

#include "ingot/frontends/keras/layer.h"

namespace ingot::frontends::keras {

/// Sizes as configurations state them; -1: not known.
std::optional<Ints> shape_of_input(const Config& config);
/// The same for the first layer of a Sequential model that has no InputLayer.
std::optional<Ints> shape_of_first(const Config& config, const Config& entry, const Config& model);
/// Unknown sizes get names: "batch" for the first, else the input's with the number of the axis.
Shape named_shape(const Ints& sizes, const std::string& input);

}  // namespace ingot::frontends::keras
