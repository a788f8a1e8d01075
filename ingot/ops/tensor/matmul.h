#pragma once
#include "ingot/ops/infer.h"

namespace ingot::ops {

/// Output 0 is the product of inputs `left` and `right` as numpy's matmul: the last two dimensions are matrices, those
/// before are broadcast, and a vector is a row on the left and a column on the right.
void infer_matmul(InferContext& c, std::size_t left, std::size_t right);

}  // namespace ingot::ops
