// Matrix products and what is made of them.
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

/// The last two axes exchanged.
Value* turned(const TfNode& n, GraphBuilder& g, std::size_t i, bool turn) {
  if (!turn) return n.input(i);
  std::vector<std::int64_t> perm;
  for (std::int64_t axis = 0; axis < n.rank(i); ++axis) perm.push_back(axis);
  if (perm.size() < 2) n.unsupported("a matrix has fewer than two dimensions");
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return g.transpose(n.input(i), perm);
}

/// ONNX multiplies 32 and 64 bits only.
Value* product(GraphBuilder& g, Value* a, Value* b) {
  const DType t = a->type.elem;
  if (!is_integer(t) || bits_of(t) >= 32) return g.op("MatMul", {a, b});
  Value* wide_a = g.cast(a, DType::i32);
  Value* wide_b = g.cast(b, DType::i32);
  return g.cast(g.op("MatMul", {wide_a, wide_b}), t);
}

}  // namespace

Values matmul(const TfNode& n, GraphBuilder& g) {
  Value* a = turned(n, g, 0, n.flag("transpose_a", false));
  Value* b = turned(n, g, 1, n.flag("transpose_b", false));
  return {product(g, a, b)};
}

Values batch_matmul(const TfNode& n, GraphBuilder& g) {
  Value* a = turned(n, g, 0, n.flag("adj_x", false));
  Value* b = turned(n, g, 1, n.flag("adj_y", false));
  Value* y = product(g, a, b);
  const DType to = n.dtype("Tout", y->type.elem);
  return {g.cast(y, to)};
}

Values einsum(const TfNode& n, GraphBuilder& g) {
  return {g.op("Einsum", n.inputs(), {{"equation", n.text("equation", "")}})};
}

Values cross(const TfNode& n, GraphBuilder& g) {
  const auto part = [&](std::size_t i, std::int64_t k) {
    return g.op("Gather", {n.input(i), g.ints({k})}, {{"axis", -1}});
  };
  Values parts;
  for (std::int64_t k = 0; k < 3; ++k) {
    const std::int64_t i = (k + 1) % 3, j = (k + 2) % 3;
    Value* ai = part(0, i);
    Value* bj = part(1, j);
    Value* aj = part(0, j);
    Value* bi = part(1, i);
    Value* first = g.mul(ai, bj);
    parts.push_back(g.sub(first, g.mul(aj, bi)));
  }
  return {g.concat(parts, -1)};
}

}  // namespace ingot::frontends::tensorflow
