#pragma once
#include "ingot/ops/builder.h"
#include "ingot/ops/known.h"

namespace ingot::frontends {

// What translators of all frameworks need of values.

/// As int64, through a cast from int64 if there is one.
Value* as_int64(GraphBuilder& g, Value* value);
Value* as_int64_vector(GraphBuilder& g, Value* value);  // rank 1
/// A constant of the element type, in the shape of `like` computed at run time.
Value* filled_like(GraphBuilder& g, Value* like, double value);
/// 0 .. count - 1, int64; `count` has rank 0.
Value* counted(GraphBuilder& g, Value* count);
/// The size of an axis, int64 of rank 0.
Value* size_of(GraphBuilder& g, Value* x, std::int64_t axis);

}  // namespace ingot::frontends
