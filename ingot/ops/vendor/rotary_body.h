#pragma once
#include "ingot/ops/builder.h"

namespace ingot::ops {

/// Turns pairs of the last axis of x [batch, head, row, width] by the angles of their positions [batch, row], whose
/// cosines and sines the caches list.
Value* rotated(GraphBuilder& g, Value* x, Value* cosines, Value* sines, Value* positions, bool is_interleaved);

/// Positions [batch, row] that begin at `first` (rank 0) and go on by one; `x` has batch and rows at these axes.
Value* positions_from(GraphBuilder& g, Value* first, Value* x, std::int64_t batch_axis, std::int64_t row_axis);

}  // namespace ingot::ops
