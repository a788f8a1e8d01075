#pragma once
#include <cstdint>

#include "ingot/ir/model.h"

namespace ingot::passes {

/// Shakes a quantised model by what another implementation may round differently: each value that is quantised, by up
/// to half a step; each float operand of a product with 8-bit weights, by up to half a step of its own range, since
/// runtimes may quantise that one while they run. Draws are seeded. Returns the number of places. Functions are
/// inlined, the model is brought to the newest operator sets, training information is dropped.
std::size_t shake_quantization(Model& model, std::uint32_t seed);

}  // namespace ingot::passes
