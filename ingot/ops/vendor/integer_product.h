#pragma once
#include "ingot/ops/builder.h"

namespace ingot::ops {

/// (A - a_zero) * (B - b_zero) * a_scale * b_scale + bias; scales and zeros of B may be one for each column. Null: 0,
/// or no bias.
struct IntegerProduct {
  Value *a, *b, *a_zero, *b_zero, *a_scale, *b_scale, *bias;
};
Value* float_product(GraphBuilder& g, const IntegerProduct& product);

/// A value of one element as one of rank 0; others, and null, as they are.
Value* as_scalar(GraphBuilder& g, Value* x);

}  // namespace ingot::ops
