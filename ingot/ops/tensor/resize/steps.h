#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

// Resize between its versions.
void resize_10_to_11(StepContext& c);
void resize_11_to_10(StepContext& c);
void resize_11_to_13(StepContext& c);
void resize_13_to_11(StepContext& c);
void resize_18_to_13(StepContext& c);
void resize_19_to_18(StepContext& c);

}  // namespace ingot::ops
