// Powers by products and roots, which vectors compute.
#include "ingot/engine/rewrites/lower_powers.h"

#include <cmath>

#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

/// x to a power that is not negative; null: there is no shorter way.
Value* power(GraphBuilder& g, Value* x, float exponent) {
  if (exponent == 1) return x;
  if (exponent == 0.5f) return g.op("Sqrt", {x});
  if (exponent == 0.25f) return g.op("Sqrt", {g.op("Sqrt", {x})});
  if (exponent == 0.75f) {
    Value* root = g.op("Sqrt", {x});
    return g.mul(root, g.op("Sqrt", {root}));
  }
  if (exponent == 1.5f) return g.mul(x, g.op("Sqrt", {x}));
  if (exponent == 2) return g.mul(x, x);
  if (exponent == 3) return g.mul(g.mul(x, x), x);
  if (exponent != 4) return nullptr;
  Value* square = g.mul(x, x);
  return g.mul(square, square);
}

void lower(Node& node) {
  Value* x = node.input(0);
  const Tensor* constant = constant_of(node.input(1));
  if (!x || x->type.elem != DType::f32 || !constant || constant->size() != 1 || !is_float(constant->dtype())) return;
  // One element of more axes than the base has would add axes to the result.
  if (constant->rank() > 0 && !have_same_shape(x, node.output(0))) return;
  const auto exponent = static_cast<float>(constant->to_doubles()[0]);
  // These are single steps as they are.
  if (exponent == 0.5f || exponent == 1 || exponent == 2 || exponent == 0) return;
  GraphBuilder g(node.graph(), &node);
  g.name_after(node);
  Value* made = power(g, x, std::abs(exponent));
  if (!made) return;
  if (exponent < 0) made = g.op("Reciprocal", {made});
  node.graph().replace_all_uses(node.output(0), made);
  node.graph().erase(&node);
}

}  // namespace

void lower_powers(Graph& graph) {
  for (Node& node : graph.nodes())
    if (node.is("Pow") && node.output(0)) lower(node);
}

}  // namespace ingot::engine
