#pragma once
#include "ingot/ops/gradient.h"

namespace ingot::train {

/// The gradient of a Loop or Scan: a Loop over the rounds, the last one first. `reads` and the result are those of
/// control_flow_gradient.
Values loop_gradient(ops::GradContext& c, const Values& reads);

}  // namespace ingot::train
