// One node in other operators.
#include "ingot/passes/legalize/rewrite.h"

#include "ingot/base/error.h"

namespace ingot::passes::legalize {
namespace {

std::optional<std::vector<std::int64_t>> known_dims(const Value* v) {
  return v ? static_dims(v->type.shape) : std::nullopt;
}

}  // namespace

std::optional<std::vector<std::int64_t>> Rewriting::dims(std::size_t i) const { return known_dims(node.input(i)); }
std::optional<std::vector<std::int64_t>> Rewriting::out_dims(std::size_t i) const { return known_dims(node.output(i)); }

std::int64_t Rewriting::axis(std::int64_t fallback, std::size_t rank) const {
  const std::int64_t a = attr("axis", fallback);
  return a < 0 ? a + static_cast<std::int64_t>(rank) : a;
}

bool apply(const Rewrite& rewrite, Node& node, const Target& target, std::vector<std::string>& notes) {
  GraphBuilder g(node.graph(), &node);
  g.name_after(node);
  Node* before = node.previous();
  Rewriting r{node, g, target, notes};
  Values made;
  try {
    made = rewrite.run(r);
  } catch (Error& error) {
    error.in_node(node.name, node.op, node.label());
    throw;
  }
  if (!made.empty()) {
    replace_node(node, made);
    return true;
  }
  for (Node* n = node.previous(); n != before;) {  // what a refused attempt left behind
    Node* previous = n->previous();
    node.graph().erase(n);
    n = previous;
  }
  return false;
}

}  // namespace ingot::passes::legalize
