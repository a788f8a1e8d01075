// Reductions, arg-extrema, top-k, running sums.
#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

Value* reduced(Op& op, ops::Name type, Value* x, bool keeps) {
  const auto known = op.known_ints(1);
  Value* axes = known ? op.b.ints(*known) : op.index_list(1);
  return op.b.op(type, {x, axes}, {{"keepdims", keeps}, {"noop_with_empty_axes", 1}});
}

bool keeps_dims(const Op& op) { return op.options.get_bool("keep_dims"); }

/// Where a reduction knows no truth values: as integers.
void reduce_truth(Op& op, ops::Name type) {
  Value* numbers = op.b.cast(op.stored(0), DType::i32);
  Value* y = reduced(op, type, numbers, keeps_dims(op));
  op.set(0, op.b.cast(y, DType::boolean));
}

void arg_extremum(Op& op, ops::Name type) {
  const std::int64_t axis = op.axis(op.integer(1, "the axis"), op.rank(0));
  Value* x = op.stored(0);
  if (x->type.elem == DType::boolean) x = op.b.cast(x, DType::i32);
  if (x->type.elem == DType::i16) x = op.real(0);
  Value* index = op.b.op(type, {x}, {{"axis", axis}, {"keepdims", 0}});
  op.set(0, op.b.cast(index, op.out_dtype()));
}

}  // namespace

void reduce_any(Op& op) { reduce_truth(op, "ReduceMax"); }
void reduce_all(Op& op) { reduce_truth(op, "ReduceMin"); }
void reduce_sum(Op& op) { op.set_real(0, reduced(op, "ReduceSum", op.real(0), keeps_dims(op))); }
void reduce_prod(Op& op) { op.set_real(0, reduced(op, "ReduceProd", op.real(0), keeps_dims(op))); }
void reduce_max(Op& op) { op.set_real(0, reduced(op, "ReduceMax", op.real(0), keeps_dims(op))); }
void reduce_min(Op& op) { op.set_real(0, reduced(op, "ReduceMin", op.real(0), keeps_dims(op))); }

void mean(Op& op) {
  Value* x = op.real(0);
  if (is_float(x->type.elem)) return op.set_real(0, reduced(op, "ReduceMean", x, keeps_dims(op)));
  // The sum divided as integers are, which is how TFLite rounds.
  Value* wide = op.b.cast(x, DType::i64);
  Value* sum = reduced(op, "ReduceSum", wide, keeps_dims(op));
  Value* all = op.b.op("Size", {x});
  Value* left = op.b.op("Size", {sum});
  Value* count = op.b.div(all, left);
  Value* y = op.b.div(sum, count);
  op.set(0, op.b.cast(y, op.out_dtype()));
}

void arg_max(Op& op) { arg_extremum(op, "ArgMax"); }
void arg_min(Op& op) { arg_extremum(op, "ArgMin"); }

void top_k(Op& op) {
  Value* k = op.index_list(1);
  const bool stays = op.alike(op.tensor(0), op.out_tensor()) && !op.is_quantized(0);
  Value* x = stays ? op.stored(0) : op.real(0);
  const Values found = op.b.op("TopK", {x, k}, {{"axis", -1}}, 2);
  op.set_real(0, found[0]);
  op.set(1, op.b.cast(found[1], op.out_dtype(1)));
}

void cumsum(Op& op) {
  Value* x = op.real(0);
  Value* axis = op.index_scalar(1);
  op.set_real(0,
              op.b.op("CumSum", {x, axis},
                      {{"exclusive", op.options.get_bool("exclusive")}, {"reverse", op.options.get_bool("reverse")}}));
}

}  // namespace ingot::frontends::tflite
