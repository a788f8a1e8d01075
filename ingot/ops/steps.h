#pragma once
#include <optional>
#include <string>

#include "ingot/ops/builder.h"

namespace ingot::ops {

/// One node while it moves between two neighbouring versions of its operator. A step changes the node in place, or
/// builds new nodes (in the operator set it moves to) and replaces it.
class StepContext {
 public:
  StepContext(Node& n, GraphBuilder& builder, std::int64_t target) : node(n), g(builder), target_(target) {}

  Node& node;
  GraphBuilder& g;  // inserts before the node; does not infer
  /// The operator set (of the node's domain) that the node is moving into by this step.
  std::int64_t target() const { return target_; }

  const Type& type(std::size_t i) const;
  std::optional<std::int64_t> rank(std::size_t i) const;
  /// The rank, or a refusal that asks for a shape.
  std::int64_t need_rank(std::size_t i) const;
  const Tensor* constant(std::size_t i) const;
  /// The integers of a constant input; a refusal when it is not constant.
  std::vector<std::int64_t> need_ints(std::size_t i, std::string_view what) const;

  // The usual moves.
  /// Up: the ints attribute becomes an int64 input at position i. Down: the reverse (the input must be constant).
  void attribute_to_input(std::string_view attribute, std::size_t i);
  void input_to_attribute(std::size_t i, std::string_view attribute);

  void replace(const Values& made) {
    replace_node(node, made);
    replaced_ = true;
  }
  bool replaced() const { return replaced_; }
  /// The node means something that the other version cannot say.
  [[noreturn]] void cannot(std::string reason, std::string hint = {}) const;

 private:
  std::int64_t target_;
  bool replaced_ = false;
};

/// One node while it is expressed in simpler operators of the newest set.
class DecomposeContext {
 public:
  DecomposeContext(GraphBuilder& builder, const Node& n) : g(builder), node(n) {}

  GraphBuilder& g;
  const Node& node;
  Value* in(std::size_t i) const { return node.input(i); }
  bool has(std::size_t i) const { return node.input(i) != nullptr; }
  DType elem(std::size_t i) const { return node.input(i) ? node.input(i)->type.elem : DType::undefined; }
  std::optional<std::int64_t> rank(std::size_t i) const;
  const Tensor* constant(std::size_t i) const;
  std::int64_t attr(std::string_view name, std::int64_t fallback) const {
    return node.attributes.int_or(name, fallback);
  }
  float attr(std::string_view name, float fallback) const { return node.attributes.float_or(name, fallback); }
  std::string attr(std::string_view name, const char* fallback) const {
    return node.attributes.string_or(name, fallback);
  }
  bool wants(std::size_t i) const { return node.output(i) != nullptr; }
};

}  // namespace ingot::ops
