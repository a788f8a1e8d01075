#pragma once
#include "ingot/ops/infer.h"

namespace ingot::ops {

/// Output 0 has the element type that the integer attribute `name` states, or `absent` without it. Refuses numbers that
/// are no element type of the operator's output.
void out_elem_from_attribute(InferContext& c, std::string_view name, DType absent);

}  // namespace ingot::ops
