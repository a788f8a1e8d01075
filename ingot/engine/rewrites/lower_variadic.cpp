// Operators of many operands by those of two.
#include "ingot/engine/rewrites/lower_variadic.h"

#include <algorithm>

#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

constexpr TypeSet kTypes = {DType::f32, DType::f64, DType::i32, DType::i64};

void lower(Node& node) {
  const bool is_sum = node.is("Sum"), is_mean = node.is("Mean");
  const std::size_t count = node.input_count();
  // One operand is the result; Sum, Max and Min of two are steps as they are.
  if (count < 2 || (count == 2 && !is_mean) || !node.output(0)) return;
  const auto inputs = node.inputs();
  const DType type = inputs[0] ? inputs[0]->type.elem : DType::undefined;
  const auto fits = [&](const Value* v) { return v && v->type.is_tensor() && v->type.elem == type && v->type.shape; };
  if (!kTypes.has(type) || !std::ranges::all_of(inputs, fits)) return;
  GraphBuilder g(node.graph(), &node);
  g.name_after(node);
  Value* made = inputs[0];
  for (std::size_t i = 1; i < count; ++i)
    made = is_sum || is_mean ? g.add(made, inputs[i])
           : node.is("Max")  ? g.op("Max", {made, inputs[i]})
                             : g.op("Min", {made, inputs[i]});
  if (is_mean) made = g.div(made, g.scalar(static_cast<double>(count), type));
  node.graph().replace_all_uses(node.output(0), made);
  node.graph().erase(&node);
}

}  // namespace

void lower_variadic(Graph& graph) {
  for (Node& node : graph.nodes())
    if (node.is("Sum") || node.is("Mean") || node.is("Max") || node.is("Min")) lower(node);
}

}  // namespace ingot::engine
