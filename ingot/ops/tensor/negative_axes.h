#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Opset 11 let axes count from the back; the operators before need them from the front. The attribute is an integer or
/// a list; `more` is how many dimensions the axes count beyond those of input 0.
void count_axes_from_front(StepContext& c, std::string_view attribute = "axis", std::int64_t more = 0);

/// The step of the many operators for which that is all.
inline void down_to_axis_from_front(StepContext& c) { count_axes_from_front(c); }

}  // namespace ingot::ops
