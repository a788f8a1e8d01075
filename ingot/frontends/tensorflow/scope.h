#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/frontends/tensorflow/body.h"
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {

/// A body being translated into a graph. Loops and branches of the old control flow are scopes of their own within
/// the scope around them; a node is translated in the innermost scope that it depends on.
struct Scope {
  enum class Kind { body, loop, branch };

  Scope(const Body& b, Scope* p, Graph& graph, Kind k) : body(b), parent(p), builder(graph), kind(k) {}

  const Body& body;
  Scope* parent;  // of the same body; null for a body's own scope
  GraphBuilder builder;
  Kind kind;
  std::int32_t frame = -1;  // of a loop
  Guard guard{};            // of a branch
  Operands arguments{};     // of a function
  const std::vector<tf::Attr>* call_attrs = nullptr;
  std::string prefix{};  // before the names of nodes: where the call stands
  std::unordered_map<std::int32_t, Operands> done{};

  const tf::AttrValue* call_attr(std::string_view name) const;
  /// The scope of the whole body.
  const Scope& outermost() const;
  /// The innermost scope from here outwards that the node belongs to.
  Scope& home(std::int32_t node);
};

/// A node's output where it is to be translated.
struct NodeInScope {
  Scope* scope;
  std::int32_t node;
  std::int32_t port;
};

}  // namespace ingot::frontends::tensorflow
