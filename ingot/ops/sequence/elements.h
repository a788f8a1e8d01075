#pragma once
#include <functional>

#include "ingot/ops/builder.h"

namespace ingot::ops {

/// A SequenceMap over sequences of equal length; `build` makes the result from one element of each.
Value* map_sequences(GraphBuilder& g, const Values& sequences,
                     const std::function<Value*(GraphBuilder&, const Values&)>& build);

/// Zeros in the shape and type of a tensor, or of each element of a sequence.
Value* zeros_like(GraphBuilder& g, Value* like);
/// The sum of two tensors, or of two sequences element by element.
Value* sum_of(GraphBuilder& g, Value* a, Value* b);

}  // namespace ingot::ops
