#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Before operator set 11 most axes counted from the front only: a negative `axis` becomes the same one from there.
void down_to_nonnegative_axis(StepContext& c);
/// The same for each of `axes`.
void down_to_nonnegative_axes(StepContext& c);

}  // namespace ingot::ops
