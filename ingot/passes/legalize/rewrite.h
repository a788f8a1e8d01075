#pragma once
#include <string>
#include <vector>

#include "ingot/ops/builder.h"

namespace ingot::passes::legalize {

struct Target;

/// A node that a target does not have as it stands, while it is said in other operators of ONNX.
struct Rewriting {
  Node& node;
  GraphBuilder& g;
  const Target& target;
  std::vector<std::string>& notes;

  Value* in(std::size_t i = 0) const { return node.input(i); }
  DType elem(std::size_t i = 0) const { return node.input(i) ? node.input(i)->type.elem : DType::undefined; }
  std::size_t rank(std::size_t i = 0) const {
    return node.input(i) && node.input(i)->type.shape ? node.input(i)->type.shape->size() : 0;
  }
  std::int64_t attr(std::string_view name, std::int64_t fallback) const {
    return node.attributes.int_or(name, fallback);
  }
  /// All sizes of an input; nothing where one is not known.
  std::optional<std::vector<std::int64_t>> dims(std::size_t i = 0) const;
  std::optional<std::vector<std::int64_t>> out_dims(std::size_t i = 0) const;
  /// Attribute axis, counted from the front.
  std::int64_t axis(std::int64_t fallback, std::size_t rank) const;
};

/// A way to say an operator in others, where that is another form than the operator's own decomposition.
struct Rewrite {
  std::string_view name;  // the rows of one idea share it
  std::string_view op;
  /// What stands for the node's outputs; {}: not for this node.
  Values (*run)(Rewriting&);
  std::string_view domain = "";
};

/// Puts the rewrite in place of the node; false: it is not for this node, and nothing changed.
bool apply(const Rewrite& rewrite, Node& node, const Target& target, std::vector<std::string>& notes);

}  // namespace ingot::passes::legalize
