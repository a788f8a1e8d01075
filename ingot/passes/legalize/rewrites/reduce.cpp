// Reductions and ranges in their own type, where their decompositions would take a wider one.
#include <cstdint>

#include "ingot/ops/infer.h"
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {

/// ReduceL2, ReduceLogSum and ReduceLogSumExp of float, in float.
Values rewrite_float_reduction(Rewriting& r) {
  const Node& node = r.node;
  GraphBuilder& g = r.g;
  Value *x = node.input(0), *axes = node.input(1);
  const bool is_l2 = node.is("ReduceL2"), is_log = node.is("ReduceLogSum"), is_log_exp = node.is("ReduceLogSumExp");
  if ((!is_l2 && !is_log && !is_log_exp) || x->type.elem != DType::f32 || !x->type.shape) return {};
  for (const Dim& d : *x->type.shape)
    if (d.is_known() && d.value() == 0) return {};  // the logarithm of nothing is -infinity, which a sum does not keep
  const std::int64_t keeps = node.attributes.int_or("keepdims", 1);
  const std::int64_t noop = node.attributes.int_or("noop_with_empty_axes", 0);
  const auto reduced = [&](ops::Name op, Value* of, std::int64_t keepdims) {
    Values inputs{of};
    if (axes) inputs.push_back(axes);
    return g.op(op, inputs, {{"keepdims", keepdims}, {"noop_with_empty_axes", noop}});
  };
  if (is_l2) {
    Value* squares = g.mul(x, x);
    Value* sum = reduced("ReduceSum", squares, keeps);
    return {g.op("Sqrt", {sum})};
  }
  if (is_log) {
    Value* sum = reduced("ReduceSum", x, keeps);
    return {g.op("Log", {sum})};
  }
  // log(sum(exp(x))) = m + log(sum(exp(x - m))), which does not overflow.
  Value* most = reduced("ReduceMax", x, 1);
  Value* rest = g.sub(x, most);
  Value* powers = g.op("Exp", {rest});
  Value* sum = reduced("ReduceSum", powers, keeps);
  Value* logarithm = g.op("Log", {sum});
  Value* offset = keeps ? most : reduced("ReduceMax", x, 0);
  return {g.add(logarithm, offset)};
}

/// Range of int64 by 1 or -1: counted in int32, which is what sizes are in many targets, and moved to its place in
/// int64.
Values rewrite_range(Rewriting& r) {
  const Node& node = r.node;
  GraphBuilder& g = r.g;
  Value *start = node.input(0), *limit = node.input(1);
  const Tensor* delta = node.input(2) ? ops::constant_of(node.input(2)) : nullptr;
  if (!start || !limit || start->type.elem != DType::i64 || !delta || delta->size() != 1) return {};
  const std::int64_t step = delta->to_ints()[0];
  if (step != 1 && step != -1) return {};
  Value* span = step == 1 ? g.sub(limit, start) : g.sub(start, limit);
  Value* none = g.index(0);
  Value* most = g.index(INT32_MAX);
  Value* positive = g.op("Max", {span, none});
  Value* held = g.op("Min", {positive, most});
  Value* count = g.cast(held, DType::i32);
  Value* zero = g.scalar(0, DType::i32);
  Value* one = g.scalar(1, DType::i32);
  Value* numbers = g.op("Range", {zero, count, one});
  Value* wide = g.cast(numbers, DType::i64);
  return {step == 1 ? g.add(wide, start) : g.sub(start, wide)};
}

}  // namespace ingot::passes::legalize
