// ReduceSum, ReduceMean, ReduceMax and the others: one number from all those along some axes.
#include "ingot/ops/math/nonnegative_axis.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/reduction/reduced_axes.h"

namespace ingot::ops {
namespace {

template <Dim (*fold)(std::span<const Dim>)> void infer(InferContext& c) { infer_reduction(c, fold); }
void infer_shape(InferContext& c) { infer_reduction(c, nullptr); }

Dim sum(std::span<const Dim> x) {
  Dim result = 0;
  for (const Dim& d : x) result = result + d;
  return result;
}
Dim multiplied(std::span<const Dim> x) {
  Dim result = 1;
  for (const Dim& d : x) result = result * d;
  return result;
}
Dim largest(std::span<const Dim> x) {
  Dim result = x[0];
  for (const Dim& d : x) result = max(result, d);
  return result;
}
Dim smallest(std::span<const Dim> x) {
  Dim result = x[0];
  for (const Dim& d : x) result = min(result, d);
  return result;
}

// What is left of an operator that reduces no axis.
Value* magnitude(GraphBuilder& g, Value* x) { return g.op("Abs", {x}); }
Value* square(GraphBuilder& g, Value* x) { return g.mul(x, x); }
Value* logarithm(GraphBuilder& g, Value* x) { return g.op("Log", {x}); }

// Operators as formulas of ReduceSum, whose axes may be computed from operator set 13 on.
using Formula = Value*(GraphBuilder&, const Node&);

DType elem_of(const Node& node) { return node.input(0) ? node.input(0)->type.elem : DType::undefined; }

/// Sums along the node's own axes.
Value* summed(GraphBuilder& g, const Node& node, Value* x) {
  return g.op("ReduceSum", {x, node.input(1)}, attributes_of(node));
}

// Roots and logarithms go through double: whole numbers have none, and small types overflow.
Value* in_double(GraphBuilder& g, const Node& node) { return g.cast(node.input(0), DType::f64); }
Value* back(GraphBuilder& g, const Node& node, Value* y) { return g.cast(y, elem_of(node)); }

Value* l1(GraphBuilder& g, const Node& node) { return summed(g, node, magnitude(g, node.input(0))); }
Value* sum_square(GraphBuilder& g, const Node& node) { return summed(g, node, square(g, node.input(0))); }
Value* l2(GraphBuilder& g, const Node& node) {
  return back(g, node, g.op("Sqrt", {summed(g, node, square(g, in_double(g, node)))}));
}
Value* log_sum(GraphBuilder& g, const Node& node) {
  return back(g, node, logarithm(g, summed(g, node, in_double(g, node))));
}
Value* log_sum_exp(GraphBuilder& g, const Node& node) {
  return back(g, node, logarithm(g, summed(g, node, g.op("Exp", {in_double(g, node)}))));
}
Value* mean(GraphBuilder& g, const Node& node) {
  Value* x = node.input(0);
  Value* ones = g.op("ConstantOfShape", {g.shape(x)}, {{"value", Tensor::of<float>({1}, {1.0f})}});
  Value* sum_of_all = summed(g, node, x);
  return g.div(sum_of_all, summed(g, node, back(g, node, ones)));
}

template <Formula formula> Values decompose(DecomposeContext& c) {
  if (c.elem(0) == DType::undefined) return {};
  return {formula(c.g, c.node)};
}

template <Value* (*noop)(GraphBuilder&, Value*)> void down(StepContext& c) { down_to_axes_attribute(c, noop); }

constexpr Step kSumSteps[] = {
    {.since = 11, .down = down_to_nonnegative_axes},
    {.since = 13, .up = up_to_axes_input, .down = down<nullptr>},
};
template <Value* (*noop)(GraphBuilder&, Value*)>
constexpr Step kSteps[] = {
    {.since = 11, .down = down_to_nonnegative_axes},
    {.since = 18, .up = up_to_axes_input, .down = down<noop>},
};
constexpr auto kPlain = std::span<const Step>(kSteps<nullptr>);

// Truth values, allowed from 20 on.
Values truth_in_integers(DecomposeContext& c) { return in_wider_type(c, DType::boolean, DType::u8); }

}  // namespace

constinit const OpDef defs::ReduceL1 = {
    .name = "ReduceL1",
    .infer = infer_shape,
    .steps = kSteps<magnitude>,
    .decompose = decompose<l1>,
};
constinit const OpDef defs::ReduceL2 = {
    .name = "ReduceL2",
    .infer = infer_shape,
    .steps = kSteps<magnitude>,
    .decompose = decompose<l2>,
};
constinit const OpDef defs::ReduceLogSum = {
    .name = "ReduceLogSum",
    .infer = infer_shape,
    .steps = kSteps<logarithm>,
    .decompose = decompose<log_sum>,
};
constinit const OpDef defs::ReduceLogSumExp = {
    .name = "ReduceLogSumExp",
    .infer = infer_shape,
    .steps = kPlain,
    .decompose = decompose<log_sum_exp>,
};
constinit const OpDef defs::ReduceMax = {
    .name = "ReduceMax",
    .infer = infer<largest>,
    .steps = kPlain,
    .decompose = truth_in_integers,
};
constinit const OpDef defs::ReduceMean = {
    .name = "ReduceMean",
    .infer = infer_shape,
    .steps = kPlain,
    .decompose = decompose<mean>,
};
constinit const OpDef defs::ReduceMin = {
    .name = "ReduceMin",
    .infer = infer<smallest>,
    .steps = kPlain,
    .decompose = truth_in_integers,
};
constinit const OpDef defs::ReduceProd = {
    .name = "ReduceProd",
    .infer = infer<multiplied>,
    .steps = kPlain,
};
constinit const OpDef defs::ReduceSum = {
    .name = "ReduceSum",
    .infer = infer<sum>,
    .steps = kSumSteps,
};
constinit const OpDef defs::ReduceSumSquare = {
    .name = "ReduceSumSquare",
    .infer = infer_shape,
    .steps = kSteps<square>,
    .decompose = decompose<sum_square>,
};

}  // namespace ingot::ops
