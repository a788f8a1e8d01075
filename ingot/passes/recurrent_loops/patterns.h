#pragma once
#include <optional>
#include <string_view>
#include <utility>

#include "ingot/ir/graph.h"

namespace ingot::passes::recurrent_loops {

// What cells are matched by: who made a value of what.

/// The node that made the value, if it is of this operator.
const Node* made_by(const Value* v, std::string_view op);

/// The two operands of a commutative node, the one that `is_first` wants in front.
template <class F> std::optional<std::pair<Value*, Value*>> operands(const Value* v, std::string_view op, F is_first) {
  const Node* node = made_by(v, op);
  if (!node) return std::nullopt;
  if (is_first(node->input(0))) return std::pair(node->input(0), node->input(1));
  if (is_first(node->input(1))) return std::pair(node->input(1), node->input(0));
  return std::nullopt;
}

/// The other factor of a product with `factor`; null: the value is no such product.
inline Value* times(const Value* v, const Value* factor) {
  const auto both = operands(v, "Mul", [&](const Value* a) { return a == factor; });
  return both ? both->second : nullptr;
}

/// Whether the value is a constant of one element, this number.
bool is_number(const Value* v, double number);

/// Behind casts and reshapes of an index.
const Value* plain_index(const Value* v);
/// Behind Identity.
Value* unwrapped(Value* v);

struct Activation {
  std::string_view name;
  Value* of;
};
/// The activation that made the value, among those that ONNX's recurrent operators take.
std::optional<Activation> activation(const Value* v);

/// The Split along the last of two axes, into `count` parts, that made the value.
const Node* split_into(const Value* v, std::size_t count);
/// Which of the parts of a Split the value is; -1: none.
std::int64_t part_of(const Value* v, const Node* split);

}  // namespace ingot::passes::recurrent_loops
