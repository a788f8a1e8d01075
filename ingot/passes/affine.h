#pragma once
#include <optional>
#include <vector>

#include "ingot/ir/graph.h"

namespace ingot::passes {

/// y = x * factor + offset for each channel.
struct Affine {
  std::vector<double> factor, offset;
};

/// What a BatchNormalization of floats with constant statistics does; nothing for others.
std::optional<Affine> affine_of(const Node& normalization);

}  // namespace ingot::passes
