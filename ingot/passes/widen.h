#pragma once
#include "ingot/ir/model.h"

namespace ingot::passes {

struct WidenOptions {
  bool reads_double = false;    // inputs are double too, instead of being cast
  bool widens_halves = false;   // float16 and bfloat16 as well as float
  bool follows_schemas = true;  // operators without a form for double keep float between casts; else none does
};

/// Computes in double whatever the model computes in float, to see how much of a result is rounding. Outputs become
/// double. Functions are inlined, the model is brought to the newest operator sets, training information is dropped.
void widen_floats(Model& model, const WidenOptions& options = {});

/// float, float16 and bfloat16.
bool is_narrow_float(DType dtype);

/// Shakes a quantised model by what another implementation may round differently: each value that is quantised, by up
/// to half a step; each float operand of a product with 8-bit weights, by up to half a step of its own range, since
/// runtimes may quantise that one while they run. Draws are seeded. Returns the number of places. Requirements as
/// above.
std::size_t shake_quantization(Model& model, std::uint32_t seed);

}  // namespace ingot::passes
