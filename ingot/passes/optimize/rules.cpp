// What the optimizer's rules ask about values and nodes.
#include "ingot/passes/optimize/rules.h"

#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/passes/legalize/identities.h"

namespace ingot::passes {

bool pass_through(Node& node, std::size_t from) {
  Value* x = node.input(from);
  if (!x || !node.output(0)) return false;
  for (std::size_t i = 1; i < node.output_count(); ++i)
    if (node.output(i) && !node.output(i)->uses().empty()) return false;
  node.set_input(0, x);
  return legalize::take_out_nothing(node);
}

Node* maker(const Value* value, std::string_view op) {
  Node* node = value ? value->producer() : nullptr;
  return node && node->is(op) && &node->graph() == &value->graph() ? node : nullptr;
}

bool is_read_only_by(const Value* value, const Node& reader) {
  return std::ranges::all_of(value->uses(), [&](const Use& use) { return use.node == &reader; });
}

Node* own_maker(const Value* value, std::string_view op, const Node& reader) {
  Node* node = maker(value, op);
  return node && &node->graph() == &reader.graph() && is_read_only_by(value, reader) ? node : nullptr;
}

std::optional<double> number_of(const Value* value) {
  const Tensor* tensor = ops::constant_of(value);
  if (!tensor || tensor->size() == 0 || tensor->size() > 65536) return std::nullopt;
  if (!is_float(tensor->dtype()) && !is_integer(tensor->dtype())) return std::nullopt;
  const std::vector<double> numbers = tensor->to_doubles();
  for (const double n : numbers)
    if (!(n == numbers.front())) return std::nullopt;
  return numbers.front();
}

WithNumber split_number(const Node& node) {
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}})
    if (const auto number = number_of(node.input(i)); number && node.input(1 - i))
      return {node.input(1 - i), *number, 1 - i};
  return {};
}

bool may_be_same(const Dim& a, const Dim& b) {
  if (same(a, b)) return true;
  const auto is_one = [](const Dim& d) { return d.is_known() && d.value() == 1; };
  return (a.is_unknown() || b.is_unknown()) && !is_one(a) && !is_one(b);
}

bool may_have_same_shape(const Value* a, const Value* b) {
  if (!a || !b || !a->type.shape || !b->type.shape || a->type.elem != b->type.elem) return false;
  return std::ranges::equal(*a->type.shape, *b->type.shape, may_be_same);
}

bool is_same_type(const Value* a, const Value* b) {
  if (!a || !b || !a->type.is_tensor() || a->type.elem != b->type.elem || a->type.elem == DType::undefined)
    return false;
  const auto &x = a->type.shape, &y = b->type.shape;
  return x && y && std::ranges::equal(*x, *y, [](const Dim& p, const Dim& q) { return same(p, q); });
}

}  // namespace ingot::passes
