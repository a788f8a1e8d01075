// What cells are matched by.
#include "ingot/passes/recurrent_loops/patterns.h"

#include "ingot/ops/infer.h"

namespace ingot::passes::recurrent_loops {

const Node* made_by(const Value* v, std::string_view op) {
  return v && v->producer() && v->producer()->is(op) ? v->producer() : nullptr;
}

bool is_number(const Value* v, double number) {
  const Tensor* t = ops::constant_of(v);
  if (!t || t->size() != 1 || t->dtype() == DType::string) return false;
  return t->to_doubles().front() == number;
}

const Value* plain_index(const Value* v) {
  while (v && v->producer() &&
         (v->producer()->is("Cast") || v->producer()->is("Reshape") || v->producer()->is("Squeeze") ||
          v->producer()->is("Unsqueeze") || v->producer()->is("Identity")))
    v = v->producer()->input(0);
  return v;
}

Value* unwrapped(Value* v) {
  while (v && v->producer() && v->producer()->is("Identity")) v = v->producer()->input(0);
  return v;
}

std::optional<Activation> activation(const Value* v) {
  for (const std::string_view name : {"Tanh", "Sigmoid", "Relu", "Softsign"})
    if (const Node* node = made_by(v, name)) return Activation{name, node->input(0)};
  return std::nullopt;
}

const Node* split_into(const Value* v, std::size_t count) {
  const Node* split = made_by(v, "Split");
  const std::int64_t axis = split ? split->attributes.int_or("axis", 0) : 0;
  return split && split->output_count() == count && (axis == 1 || axis == -1) ? split : nullptr;
}

std::int64_t part_of(const Value* v, const Node* split) {
  return v && v->producer() == split ? static_cast<std::int64_t>(v->output_index()) : -1;
}

}  // namespace ingot::passes::recurrent_loops
