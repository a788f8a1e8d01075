// The shape of a matrix product.
#include "ingot/ops/quantization/matmul_shape.h"

#include "ingot/ops/nn/agree.h"

namespace ingot::ops {

void infer_matmul(InferContext& c, std::size_t a, std::size_t b) {
  if (!c.shape(a) || !c.shape(b)) return;
  Shape left = *c.shape(a), right = *c.shape(b);
  c.require(!left.empty() && !right.empty(), "a scalar is no factor of a matrix product");
  const bool is_row = left.size() == 1, is_column = right.size() == 1;
  if (is_row) left.insert(left.begin(), Dim(1));
  if (is_column) right.push_back(Dim(1));
  agree(c, left.back(), right[right.size() - 2], "the inner size of the product");
  const Shape stack = broadcast(c, Shape(left.begin(), left.end() - 2), Shape(right.begin(), right.end() - 2));
  Shape y = stack;
  if (!is_row) y.push_back(left[left.size() - 2]);
  if (!is_column) y.push_back(right.back());
  c.out_shape(0, std::move(y));
}

}  // namespace ingot::ops
