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

/// Computes in float whatever the model computes in float16 or bfloat16, inputs and outputs too. The model must be of
/// the newest operator sets with types inferred. Returns how many values changed.
std::size_t widen_halves(Model& model);

/// float, float16 and bfloat16.
bool is_narrow_float(DType dtype);

}  // namespace ingot::passes
