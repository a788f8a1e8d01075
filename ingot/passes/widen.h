#pragma once
#include "ingot/ir/model.h"

namespace ingot::passes {

/// Computes in double whatever the model computes in float, to see how much of a result is rounding. Inputs stay float,
/// outputs become double; operators without a form for double keep float between casts. Functions are inlined, the
/// model is brought to the newest operator sets, training information is dropped.
void widen_floats(Model& model);

}  // namespace ingot::passes
