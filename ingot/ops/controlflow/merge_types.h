#pragma once
#include "ingot/ops/infer.h"

namespace ingot::ops {

/// The type without what it says of shapes, also of elements.
Type without_shapes(const Type& type);

/// What is still known of a value that has one of two types which must have the same kind and element type: those of
/// one where the other is not known. Refuses types that differ; `what` names the value.
Type merged(const InferContext& c, const Type& a, const Type& b, std::string_view what);

}  // namespace ingot::ops
