// What the fusions ask about values and nodes.
#include "ingot/passes/fuse/fusions.h"

#include <algorithm>

#include "ingot/ops/infer.h"

namespace ingot::passes::fuse {

Node* add_microsoft(GraphBuilder& g, std::string_view op, const Values& inputs, const Attrs& attrs,
                    std::size_t outputs) {
  Values given = inputs;
  while (!given.empty() && !given.back()) given.pop_back();
  return g.node(op, kMicrosoft, given, attrs, outputs);
}

void replace_by_microsoft(Node& node, std::string_view op, const Values& inputs, const Attrs& attrs) {
  GraphBuilder g(node.graph(), &node);
  g.name_after(node);
  replace_node(node, {add_microsoft(g, op, inputs, attrs)->output(0)});
}

bool is_float_tensor(const Value* v) { return v && v->type.is_tensor() && v->type.elem == DType::f32; }

std::int64_t rank_of(const Value* v) { return v && v->type.shape ? std::ssize(*v->type.shape) : -1; }

const Dim& dim_of(const Value* v, std::int64_t axis) {
  const Shape& shape = *v->type.shape;
  return shape.at(static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shape) : axis));
}

std::int64_t size_of(const Value* v, std::int64_t axis) {
  const Dim& dim = dim_of(v, axis);
  return dim.is_known() ? dim.value() : -1;
}

WithNumber split_lone_number(const Node& node) {
  const WithNumber parts = split_number(node);
  const Tensor* number = parts.other ? ops::constant_of(node.input(1 - parts.place)) : nullptr;
  return number && number->size() == 1 && number->rank() <= std::max<std::int64_t>(rank_of(parts.other), 0)
             ? parts
             : WithNumber{};
}

bool has_perm(const Node& transpose, const std::vector<std::int64_t>& perm) {
  return transpose.attributes.ints_or("perm", {}) == perm;
}

std::optional<Biased> split_bias(const Node& sum) {
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
    Value *row = sum.input(i), *x = sum.input(1 - i);
    const Tensor* numbers = ops::constant_of(row);
    if (!numbers || numbers->rank() != 1 || rank_of(x) < 2) continue;
    if (same(dim_of(x, -1), Dim(numbers->size()))) return Biased{x, row};
  }
  return std::nullopt;
}

}  // namespace ingot::passes::fuse
