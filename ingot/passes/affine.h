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

/// What a node does to each of the channels of `x` [N, channels, ...], which it reads: a BatchNormalization as above,
/// or a sum, difference, product or quotient with constant floats, one for each channel or one for all.
std::optional<Affine> channel_affine_of(const Node& node, const Value* x, std::int64_t channels);

/// First one, then the other.
Affine joined(const Affine& first, const Affine& then);

}  // namespace ingot::passes
