// Reductions and what else goes along one axis: softmax, extremes, running sums.
#include <algorithm>
#include <numeric>

#include "ingot/backends/tflite/rows.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::backends::tflite {

using Op = BuiltinOperator;

/// Softmax and LogSoftmax know the last axis only: others are brought there.
void emit_softmax(NodeOut& n, Op op) {
  Options options(op);
  if (op == Op::SOFTMAX) options.set("beta", 1.0f);
  const std::int64_t axis = n.axis(-1), last = static_cast<std::int64_t>(n.rank()) - 1;
  if (axis == last) return n.e.add(op, {n.in(0)}, {n.out()}, options);
  Ints perm(n.rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<std::size_t>(axis)], perm.back());
  const std::int32_t x = transposed(n.e, n.in(0), n.elem(), n.shape(), perm);
  const std::int32_t y = n.e.temporary(n.elem(), passes::permuted(n.shape(), perm));
  n.e.add(op, {x}, {y}, options);
  const std::int32_t back = n.e.ints(perm);
  n.e.add(Op::TRANSPOSE, {y, back}, {n.out()});
}
Refused refuse_softmax(const Node& n) {
  if (Refused why = needs_rank(n)) return why;
  if (n.input(0)->type.shape->empty()) return Refusal{Kind::dimensions, "a scalar"};
  if (n.input(0)->type.shape->size() > 6) return Refusal{Kind::dimensions, "more than 6 dimensions"};
  return floats(n);
}

namespace {

bool is_empty_list(const Value* v) {
  return v->type.shape && v->type.shape->size() == 1 && same((*v->type.shape)[0], 0);
}

}  // namespace

void emit_reduce(NodeOut& n, Op op) {
  Options options(op);
  options.set("keep_dims", n.attr("keepdims", 1) != 0);
  std::int32_t axes;
  const bool none = !n.has(1) || (n.constant(1) && n.constant(1)->size() == 0) || is_empty_list(n.node.input(1));
  if (none && n.attr("noop_with_empty_axes", 0)) return emit_identity(n);
  if (none) {
    Ints all(n.rank());
    std::iota(all.begin(), all.end(), 0);
    axes = n.e.ints(all);
  } else {
    axes = n.in_int32(1);
  }
  n.e.add(op, {n.in(0), axes}, {n.out()}, options);
}
Refused refuse_reduce(const Node& n) {
  if (Refused why = needs_rank(n)) return why;
  if (n.input(1) && !ops::constant_of(n.input(1)) && !is_empty_list(n.input(1))) {
    const auto& shape = n.input(1)->type.shape;  // no axes at all would mean another thing to TFLite
    if (!shape || shape->size() != 1 || !(*shape)[0].is_at_least(1))
      return Refusal{Kind::not_constant, "axes that are computed, maybe none"};
  }
  return needs_types(n, {DType::f32, DType::i32, DType::i64});
}

void emit_arg(NodeOut& n, Op op) {
  const std::int64_t axis = n.axis(0);
  Options options(op);
  options.set("output_type", TensorType::INT64);
  const std::int32_t dim = n.e.index(axis), x = n.in(0);
  if (!n.attr("keepdims", 1)) return n.e.add(op, {x, dim}, {n.out()}, options);
  Shape rest = n.shape();
  rest.erase(rest.begin() + axis);
  const std::int32_t found = n.e.temporary(DType::i64, rest), again = n.e.index(axis);
  n.e.add(op, {x, dim}, {found}, options);
  n.e.add(Op::EXPAND_DIMS, {found, again}, {n.out()});
}
Refused refuse_arg(const Node& n) {
  if (n.attributes.int_or("select_last_index", 0))
    return Refusal{Kind::attribute_value, "the last of equal elements: TFLite takes the first"};
  Refused why = needs_rank(n);
  return why ? why : needs_types(n, {DType::f32, DType::i32, DType::i8, DType::u8});
}

void emit_top_k(NodeOut& n) {
  const std::int64_t axis = n.axis(-1), last = static_cast<std::int64_t>(n.rank()) - 1;
  Ints perm(n.rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<std::size_t>(axis)], perm.back());
  const bool is_last = axis == last;
  // The smallest are the largest of the negated.
  const bool is_smallest = !n.attr("largest", 1);
  std::int32_t x = is_last ? n.in(0) : transposed(n.e, n.in(0), n.elem(), n.shape(), perm);
  if (is_smallest) {
    const std::int32_t negated = n.e.temporary(n.elem(), passes::permuted(n.shape(), perm));
    n.e.add(Op::NEG, {x}, {negated});
    x = negated;
  }
  const Shape found = passes::permuted(n.out_shape(), perm);
  std::int32_t values = is_last && !is_smallest ? n.out(0) : n.e.temporary(n.elem(), found);
  const std::int32_t places = n.e.temporary(DType::i32, found);
  std::int32_t k;
  if (n.constant(1)) {
    k = n.e.index(n.ints(1)[0]);
  } else {
    const std::int32_t vector = n.in_int32(1);
    k = reshaped(n.e, vector, DType::i32, Shape{});
  }
  n.e.add(Op::TOPK_V2, {x, k}, {values, places});
  if (is_smallest) {
    const std::int32_t back = is_last ? n.out(0) : n.e.temporary(n.elem(), found);
    n.e.add(Op::NEG, {values}, {back});
    values = back;
  }
  std::int32_t wide = n.node.output(1) && is_last ? n.out(1) : n.e.temporary(DType::i64, found);
  Options options(Op::CAST);
  options.set("in_data_type", TensorType::INT32).set("out_data_type", TensorType::INT64);
  if (n.node.output(1)) n.e.add(Op::CAST, {places}, {wide}, options);
  if (is_last) return;
  const std::int32_t back = n.e.ints(perm);
  if (n.node.output(0)) n.e.add(Op::TRANSPOSE, {values, back}, {n.out(0)});
  if (n.node.output(1)) n.e.add(Op::TRANSPOSE, {wide, back}, {n.out(1)});
}
Refused refuse_top_k(const Node& n) {
  if (Refused why = needs_rank(n)) return why;
  if (!n.output(0)) return Refusal{Kind::structure, "the values are not asked for"};
  return needs_types(n, {DType::f32, DType::i32, DType::i64});
}

void emit_cum_sum(NodeOut& n) {
  Options options(Op::CUMSUM);
  options.set("exclusive", n.attr("exclusive", 0) != 0).set("reverse", n.attr("reverse", 0) != 0);
  const std::int32_t axis = n.constant(1) ? n.e.index(n.ints(1)[0]) : n.in_int32(1);
  n.e.add(Op::CUMSUM, {n.in(0), axis}, {n.out()}, options);
}

void emit_reverse_sequence(NodeOut& n) {
  Options options(Op::REVERSE_SEQUENCE);
  options.set("seq_dim", n.attr("time_axis", 0)).set("batch_dim", n.attr("batch_axis", 1));
  n.e.add(Op::REVERSE_SEQUENCE, {n.in(0), n.in(1)}, {n.out()}, options);
}
Refused refuse_reverse_sequence(const Node& n) {
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::u8});
}

}  // namespace ingot::backends::tflite
