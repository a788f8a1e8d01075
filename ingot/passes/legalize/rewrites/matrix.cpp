// Determinants, by elimination with the largest pivots; products with matrices without elements.
#include "ingot/ops/infer.h"
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {
namespace {

/// A matrix [batch, size, size] that gets smaller step by step, and the product of what was its corner.
struct Elimination {
  GraphBuilder& g;
  Value* matrix;
  Value* product = nullptr;  // [batch, 1]

  Value* part(Value* x, std::int64_t axis, std::int64_t from, std::int64_t to) {
    Value* begin = g.ints({from});
    Value* end = g.ints({to});
    Value* along = g.ints({axis});
    return g.op("Slice", {x, begin, end, along});
  }

  void times(Value* factor) { product = product ? g.mul(product, factor) : factor; }

  /// Brings the row with the largest first element to the front, and takes it off all others.
  void step(std::int64_t size) {
    Value* column = part(matrix, 2, 0, 1);
    Value* magnitudes = g.op("Abs", {column});
    Value* largest = g.op("ArgMax", {magnitudes}, {{"axis", 1}, {"keepdims", 0}});
    Value* depth = g.index(size);
    Value* off_on = g.constant(Tensor::of<float>({2}, {0, 1}));
    Value* chosen = g.op("OneHot", {largest, depth, off_on}, {{"axis", 1}});  // [batch, size, 1]
    Value* chosen_row = g.reduce_sum(g.mul(chosen, matrix), {1});             // [batch, 1, size]
    Value* corner = part(chosen_row, 2, 0, 1);
    times(g.squeeze(corner, {2}));
    // Exchanging two rows changes the sign.
    Value* stays = g.squeeze(part(chosen, 1, 0, 1), {2});
    times(g.sub(g.mul(stays, 2), 1));
    Value* first_row = part(matrix, 1, 0, 1);
    Value* exchanged = g.mul(chosen, g.sub(first_row, chosen_row));
    Value* others = part(g.add(matrix, exchanged), 1, 1, size);
    // A corner of zero has zeros below it: nothing is taken off.
    Value* zero = g.scalar(0, DType::f32);
    Value* is_zero = g.op("Equal", {corner, zero});
    Value* one = g.scalar(1, DType::f32);
    Value* divisor = g.where(is_zero, one, corner);
    Value* factors = g.div(part(others, 2, 0, 1), divisor);
    Value* taken = g.mul(factors, part(chosen_row, 2, 1, size));
    matrix = g.sub(part(others, 2, 1, size), taken);
  }
};

}  // namespace

Values rewrite_det(Rewriting& r) {
  const auto dims = r.dims();
  constexpr std::int64_t kMost = 32;  // some 25 operators for each row
  if (!dims || dims->size() < 2 || r.elem() != DType::f32) return {};
  const std::int64_t size = dims->back();
  if (size < 1 || size > kMost || (*dims)[dims->size() - 2] != size) return {};
  GraphBuilder& g = r.g;
  Elimination e{g, g.reshape(r.in(), {-1, size, size})};
  for (std::int64_t left = size; left > 1; --left) e.step(left);
  e.times(g.squeeze(e.matrix, {2}));
  return {g.reshape(e.product, {dims->begin(), dims->end() - 2})};
}

/// A sum of nothing is zero.
Values rewrite_empty_matmul(Rewriting& r) {
  const Tensor* weights = ops::constant_of(r.in(1));
  const auto dims = r.out_dims();
  if (!weights || weights->rank() < 2 || weights->dims().end()[-2] != 0 || !dims || r.elem() != DType::f32) return {};
  constexpr std::int64_t kMost = 1 << 22;
  if (tensor_size(*dims) > kMost) return {};
  const auto count = static_cast<std::size_t>(tensor_size(*dims));
  return {r.g.op("Identity", {r.g.constant(Tensor::of<float>(*dims, std::vector<float>(count, 0)))})};
}

}  // namespace ingot::passes::legalize
