// Nodes that do nothing.
#include "ingot/passes/legalize/identities.h"

#include <algorithm>

#include "ingot/ops/infer.h"

namespace ingot::passes::legalize {
namespace {

bool is_zero(const Tensor& number) { return number.size() == 1 && number.to_doubles()[0] == 0; }

/// It drops nothing: it does not train, or none is its share.
bool is_plain_dropout(const Node& node) {
  if (node.output(1) && !node.output(1)->uses().empty()) return false;
  if (!node.input(2)) return true;
  const Tensor *training = ops::constant_of(node.input(2)), *ratio = ops::constant_of(node.input(1));
  return (training && training->to_ints() == std::vector<std::int64_t>{0}) || (ratio && is_zero(*ratio));
}

}  // namespace

bool does_nothing(const Node& node) {
  if (!node.input(0) || !node.output(0)) return false;
  if (node.is("Identity")) return true;
  if (node.is("Cast") || node.is("CastLike")) return node.input(0)->type.elem == node.output(0)->type.elem;
  if (node.is("Max") || node.is("Min") || node.is("Sum") || node.is("Mean")) return node.input_count() == 1;
  return node.is("Dropout") && is_plain_dropout(node);
}

bool take_out_nothing(Node& node) {
  const bool was_identity = node.is("Identity");
  node.resize_inputs(1);
  node.op = "Identity";
  node.attributes = {};
  node.resize_outputs(1);
  return take_out_identity(node) || !was_identity;
}

bool take_out_identity(Node& node) {
  Value *x = node.input(0), *y = node.output(0);
  const bool names_output = std::ranges::any_of(y->uses(), [](const Use& u) { return !u.node; });
  if (!names_output) {
    if (!x || x->type.elem != y->type.elem) return false;
    // Both may have names that the file states; one value has one.
    if (x->is_declared || !x->producer()) {
      node.graph().replace_all_uses(y, x);
      node.graph().erase(&node);
    } else {
      replace_node(node, {x});
    }
    return true;
  }
  bool x_has_name = !x->producer() || &x->graph() != &node.graph() || x->is_declared;
  for (const Use& use : x->uses()) x_has_name |= !use.node;
  if (x_has_name) return false;
  Graph& graph = node.graph();
  const std::vector<Use> uses(y->uses().begin(), y->uses().end());
  for (const Use& use : uses) use.node ? use.node->set_input(use.index, x) : use.graph->set_output(use.index, x);
  std::string name = y->name();
  const bool is_declared = y->is_declared;
  graph.erase(&node);
  graph.rename(x, std::move(name));
  x->is_declared = is_declared;
  return true;
}

}  // namespace ingot::passes::legalize
