#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

// Decompositions for element types that older versions of an operator, and many backends, lack: the same operator in
// a wider type between two casts. They are {} for nodes of other types.

/// Inputs of type `narrow` are cast to `wide`, and so are the outputs back. {} when no input has type `narrow`.
Values in_wider_type(DecomposeContext& c, DType narrow, DType wide);

/// bfloat16 is computed in float.
Values bfloat16_in_float(DecomposeContext& c);
/// float16 and bfloat16 are computed in float.
Values halves_in_float(DecomposeContext& c);
/// 8- and 16-bit integers are computed in int32; casting back wraps as their own arithmetic does.
Values small_integers_in_int32(DecomposeContext& c);

/// The node's attributes that are numbers, strings, types or tensors, for use in another node.
Attrs attributes_of(const Node& node);

}  // namespace ingot::ops
