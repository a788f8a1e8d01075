#pragma once
#include "ingot/ops/builder.h"

namespace ingot::ops {

/// The size of x along an axis (negative: from the back) as a vector of one element: a constant where it is known.
Value* size_along(GraphBuilder& g, Value* x, std::int64_t axis);
/// What the type of a value says of the size along an axis.
Dim stated_size(const Value* x, std::int64_t axis);

}  // namespace ingot::ops
