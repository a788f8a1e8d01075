#pragma once
#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"

namespace ingot::ops {

/// Output 0 is the product of inputs `left` and `right` as numpy's matmul: the last two dimensions are matrices, those
/// before are broadcast, and a vector is a row on the left and a column on the right.
void infer_matmul(InferContext& c, std::size_t left, std::size_t right);

/// The same at run time, of arrays of one type to compute in.
Array matrix_product(KernelContext& c, const Array& a, const Array& b);

}  // namespace ingot::ops
