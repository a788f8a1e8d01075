#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// [axis, ..., rank - 1] of input 0 as an int64 vector; computed while running where the rank is not known.
Value* trailing_axes(DecomposeContext& c, std::int64_t axis);
/// The element type that attribute `stash_type` names: the precision of the statistics. Nothing: not allowed.
std::optional<DType> stash_type(const Attributes& attributes);

}  // namespace ingot::ops
