#pragma once
#include "ingot/ops/infer.h"

namespace ingot::ops {

/// Output 0 is the matrix product of inputs a and b, with numpy's rules for vectors and stacks of matrices.
void infer_matmul(InferContext& c, std::size_t a, std::size_t b);

}  // namespace ingot::ops
