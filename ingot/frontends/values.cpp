// What translators of all frameworks need of values.
#include "ingot/frontends/values.h"

#include "ingot/ops/infer.h"

namespace ingot::frontends {

Value* as_int64(GraphBuilder& g, Value* value) {
  if (value->type.elem == DType::i64) return value;
  const Node* producer = value->producer();
  if (producer && producer->is("Cast") && producer->input(0)->type.elem == DType::i64) return producer->input(0);
  if (const Tensor* constant = ops::constant_of(value); constant && is_integer(constant->dtype()))
    return g.constant(Tensor::of<std::int64_t>(constant->dims(), constant->to_ints()));
  return g.cast(value, DType::i64);
}

Value* as_int64_vector(GraphBuilder& g, Value* value) {
  Value* wide = as_int64(g, value);
  return rank_of(wide) == 1 ? wide : g.reshape(wide, {-1});
}

Value* filled_like(GraphBuilder& g, Value* like, double value) {
  return g.op("Expand", {g.scalar(value, like->type.elem), g.shape(like)});
}

Value* counted(GraphBuilder& g, Value* count) { return g.op("Range", {g.index(0), count, g.index(1)}); }

Value* size_of(GraphBuilder& g, Value* x, std::int64_t axis) { return g.op("Gather", {g.shape(x), g.index(axis)}); }

}  // namespace ingot::frontends
