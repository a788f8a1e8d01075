// Matrix products.
#include <algorithm>

#include "ingot/backends/tensorflow/quantized.h"
#include "ingot/backends/tensorflow/rows.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::backends::tensorflow {

Refused refuse_gemm(const Node& n, Dialect) {
  for (const std::size_t i : {0U, 1U})
    if (Refused why = needs_rank(n, i)) return why;
  return {};
}

namespace {

/// The second factor. Quantised weights with their channels first are turned, as TensorFlow has channels last.
Ref turned_weights(NodeOut& n, bool& turns) {
  auto weights = turns ? quantized_weights(n.node.input(1)) : std::nullopt;
  if (!weights || weights->grid.axis != 0) return n.in(1);
  turns = false;
  weights->grid.axis = 1;
  const Tensor turned = passes::transposed(weights->floats, {1, 0});
  return fake_quantized(n.e, n.e.constant(turned, n.node.input(1)->name()), 2, weights->grid);
}

}  // namespace

void emit_gemm(NodeOut& n) {
  Emitter& e = n.e;
  const float alpha = n.attr("alpha", 1.f), beta = n.attr("beta", 1.f);
  bool turns_b = n.attr("transB", 0) != 0;
  const Ref b = turned_weights(n, turns_b);
  Ref y = e.add("MatMul", {n.in(0), b}, {{"transpose_a", n.attr("transA", 0) != 0}, {"transpose_b", turns_b}});
  if (alpha != 1) y = e.add("Mul", {y, e.scalar(alpha, n.elem())});
  if (n.has(2) && beta != 0) {
    Ref c = n.in(2);
    if (beta != 1) c = e.add("Mul", {c, e.scalar(beta, n.elem())});
    const auto& shape = n.node.input(2)->type.shape;
    const bool is_bias = shape && shape->size() == 1 && same((*shape)[0], n.out_shape().back());
    y = is_bias ? e.add("BiasAdd", {y, c}) : e.add("AddV2", {y, c});
  }
  n.set(y);
}

namespace {

/// Whether both factors have the same sizes before their matrices, or one has a single matrix.
bool have_one_batch(const Shape& a, const Shape& b) {
  const auto is_single = [](const Shape& s) {
    for (std::size_t i = 0; i + 2 < s.size(); ++i)
      if (!same(s[i], 1)) return false;
    return true;
  };
  if (is_single(a) || is_single(b)) return true;
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i + 2 < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}

/// The larger of both sizes, counted from the last.
Ref broadcast_sizes(Emitter& e, Ref a, std::size_t a_count, Ref b, std::size_t b_count) {
  const std::size_t count = std::max(a_count, b_count);
  const auto filled = [&](Ref sizes, std::size_t has) {
    return has == count ? sizes : e.add("ConcatV2", {e.ints(Ints(count - has, 1)), sizes, e.index(0)});
  };
  return e.add("Maximum", {filled(a, a_count), filled(b, b_count)});
}

}  // namespace

Refused refuse_matmul(const Node& n, Dialect) {
  for (const std::size_t i : {0U, 1U})
    if (Refused why = needs_rank(n, i)) return why;
  if (n.input(0)->type.shape->empty() || n.input(1)->type.shape->empty()) return Refusal{Kind::dimensions, "a scalar"};
  const bool is_plain = n.input(0)->type.shape->size() == 2 && n.input(1)->type.shape->size() == 2;
  if (!takes(is_plain ? "MatMul" : "BatchMatMulV2", n.input(0)->type.elem))
    return Refusal{Kind::element_type, "TensorFlow has no product of matrices of this type"};
  return {};
}

void emit_matmul(NodeOut& n) {
  Emitter& e = n.e;
  if (n.rank(0) == 2 && n.rank(1) == 2) return n.set(e.add("MatMul", n.all_inputs()));
  // Vectors become matrices for the time being.
  Ref a = n.in(0), b = n.in(1);
  const bool a_is_vector = n.rank(0) == 1, b_is_vector = n.rank(1) == 1;
  if (a_is_vector) a = e.add("ExpandDims", {a, e.index(0)});
  if (b_is_vector) b = e.add("ExpandDims", {b, e.index(1)});
  const bool is_plain = (a_is_vector || n.rank(0) == 2) && (b_is_vector || n.rank(1) == 2);
  if (e.is_tfjs() && n.rank(0) > 2 && n.rank(1) > 2 && !have_one_batch(n.shape(0), n.shape(1))) {
    // TF.js repeats whole batches only: both get all of them.
    const auto spread = [&](Ref x, const Ref batches) {
      const Ref own = shape_of(e, x);
      const Ref matrix = e.add("StridedSlice", {own, e.ints({-2}), e.ints({0}), e.ints({1})}, {{"end_mask", 1}});
      return e.add("BroadcastTo", {x, e.add("ConcatV2", {batches, matrix, e.index(0)})});
    };
    const auto batches_of = [&](Ref x) {
      return e.add("StridedSlice", {shape_of(e, x), e.ints({0}), e.ints({-2}), e.ints({1})}, {{"begin_mask", 1}});
    };
    const Ref batches = broadcast_sizes(e, batches_of(a), n.rank(0) - 2, batches_of(b), n.rank(1) - 2);
    a = spread(a, batches);
    b = spread(b, batches);
  }
  Ref y = is_plain ? e.add("MatMul", {a, b}) : e.add("BatchMatMulV2", {a, b});
  Ints spare;
  if (a_is_vector) spare.push_back(-2);
  if (b_is_vector) spare.push_back(-1);
  if (!spare.empty()) {
    // TF.js wants them counted from the front.
    const auto rank = static_cast<std::int64_t>(n.out_shape().size() + spare.size());
    for (std::int64_t& s : spare) s += rank;
    y = e.add("Squeeze", {y}, {{"squeeze_dims", spare}});
  }
  n.set(y);
}

void emit_det(NodeOut& n) { n.set(n.e.add("MatrixDeterminant", {n.in(0)})); }

}  // namespace ingot::backends::tensorflow
