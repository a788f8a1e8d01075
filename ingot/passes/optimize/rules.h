#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "ingot/ir/model.h"
#include "ingot/passes/optimize/optimize.h"

// What the optimizer's rules are made of. The graphs are of the newest operator sets, with types inferred.

namespace ingot::passes {

/// One node that a rule may change, and what the caller allows.
struct RuleContext {
  Node& node;
  const OptimizeOptions& options;
};

/// A rule for one operator; true: the graph changed (the node may be gone).
struct Rule {
  std::string_view name;  // the rows of one idea share it
  std::string_view op;
  OptimizeLevel level;
  bool (*apply)(RuleContext&);
  std::int64_t opset = 0;  // of ai.onnx that the result needs
};

std::span<const Rule> algebra_rules();
std::span<const Rule> shape_rules();
std::span<const Rule> pattern_rules();

/// The node hands its input `from` on: it is taken out where names allow, else it becomes an Identity.
bool pass_through(Node& node, std::size_t from = 0);

/// The node of this operator, in the same graph, that makes the value; null: another makes it.
Node* maker(const Value* value, std::string_view op);
/// The same where nothing but `reader` reads the value.
Node* own_maker(const Value* value, std::string_view op, const Node& reader);
/// Whether `reader` alone reads the value, once or more.
bool is_read_only_by(const Value* value, const Node& reader);

/// The one number that all elements of a constant are; nothing: it is no constant, or they differ.
std::optional<double> number_of(const Value* value);

/// Of a commutative node: the operand that is this number, and the other. Null `other`: there is none.
struct WithNumber {
  Value* other = nullptr;
  double number = 0;
  std::size_t place = 0;  // of the other
};
WithNumber split_number(const Node& node);

/// Whether nothing tells them apart, for patterns that only make sense of equal shapes: exporters compute sizes in ways
/// that no inference follows.
bool may_be_same(const Dim& a, const Dim& b);
bool may_have_same_shape(const Value* a, const Value* b);
/// Whether both are known to have the same element type and shape.
bool is_same_type(const Value* a, const Value* b);

}  // namespace ingot::passes
