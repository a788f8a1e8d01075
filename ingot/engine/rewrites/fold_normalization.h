#pragma once
#include <optional>
#include <vector>

#include "ingot/ir/graph.h"

namespace ingot::engine {

/// y = x * factor + offset for each channel.
struct Affine {
  std::vector<double> factor, offset;
};

/// What a batch normalisation with constant statistics does; nothing for others.
std::optional<Affine> affine_of(const Node& normalization);

/// Writes such normalisations as a product and a sum, but for those behind a convolution that may take them in.
void lower_normalization(Graph& graph);

/// Multiplies what is left of them into the weights of the convolutions before them, else the same.
void fold_normalization(Graph& graph);

}  // namespace ingot::engine
