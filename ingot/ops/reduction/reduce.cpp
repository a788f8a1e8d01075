// ReduceSum, ReduceMean, ReduceMax and the others: one number from all those along some axes.
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/nonnegative_axis.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/reduction/reduce_kernel.h"
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

Values decompose_extremum(DecomposeContext& c) {
  return c.elem(0) == DType::boolean ? truth_in_integers(c) : reduce_computed_axes(c);
}

/// A reduced value with the axes in place again, each of size 1.
Value* with_axes(GradContext& c, Value* reduced) {
  GraphBuilder& g = c.g;
  if (c.attr("keepdims", std::int64_t{1}) != 0) return reduced;
  const Tensor* axes = c.has(1) ? c.constant(1) : nullptr;
  const bool is_empty = !c.has(1) || (axes && axes->size() == 0);
  const bool is_noop = c.attr("noop_with_empty_axes", std::int64_t{0}) != 0;
  if (is_empty) return reduced;  // a scalar, or nothing was reduced
  if (axes && !is_noop) return g.op("Unsqueeze", {reduced, c.x(1)});
  // Which axes there are is known when it runs.
  Value* kept = g.op("ReduceSum", {c.x(), c.x(1)}, {{"keepdims", 1}, {"noop_with_empty_axes", is_noop}});
  return c.shaped(reduced, kept);
}

Values gradient_sum(GradContext& c) { return {c.stretched(with_axes(c, c.dy()), c.x())}; }

Values gradient_mean(GradContext& c) {
  Value* share = c.g.div(c.dy(), c.ratio_of_sizes(c.x(), c.y()));
  return {c.stretched(with_axes(c, share), c.x())};
}

// Elements that share the extremum share the gradient.
Values gradient_extremum(GradContext& c) {
  GraphBuilder& g = c.g;
  if (!is_float(c.elem())) return {};
  Value* is_winner = c.equal(c.x(), with_axes(c, c.y()));
  Value* ones = g.cast(is_winner, c.elem());
  Value* count = g.op("ReduceSum", {ones, c.x(1)}, attributes_of(c.node));
  return {c.keep(is_winner, with_axes(c, g.div(c.dy(), count)))};
}

Values gradient_l1(GradContext& c) {
  Value* dy = with_axes(c, c.dy());
  return {c.g.mul(c.g.op("Sign", {c.x()}), dy)};
}

Values gradient_sum_square(GradContext& c) {
  Value* dy = with_axes(c, c.dy());
  return {c.g.mul(c.g.mul(c.x(), 2), dy)};
}

Values gradient_l2(GradContext& c) {
  GraphBuilder& g = c.g;
  Value* is_zero = c.equal(c.y(), c.number(0));
  Value* norm = g.where(is_zero, c.number(1), c.y());  // at zero: x is zero too
  return {g.mul(c.x(), with_axes(c, g.div(c.dy(), norm)))};
}

Values gradient_log_sum(GradContext& c) {
  Value* sum = c.g.op("Exp", {c.y()});
  return {c.stretched(with_axes(c, c.g.div(c.dy(), sum)), c.x())};
}

Values gradient_log_sum_exp(GradContext& c) {
  Value* share = c.g.op("Exp", {c.g.sub(c.x(), with_axes(c, c.y()))});
  return {c.g.mul(share, with_axes(c, c.dy()))};
}

// The product of all others: where one element is zero, only that one has such a product.
Values gradient_prod(GradContext& c) {
  GraphBuilder& g = c.g;
  if (!is_float(c.elem())) return {};
  const Attrs attrs = attributes_of(c.node);
  Value* is_zero = c.equal(c.x(), c.number(0));
  Value* zeros = with_axes(c, g.op("ReduceSum", {g.cast(is_zero, c.elem()), c.x(1)}, attrs));
  Value* nonzero = g.where(is_zero, c.number(1), c.x());
  Value* product = with_axes(c, g.op("ReduceProd", {nonzero, c.x(1)}, attrs));
  Value* of_a_zero = c.keep(c.equal(zeros, c.number(1)), product);
  Value* quotient = g.div(product, nonzero);
  Value* of_others = c.keep(c.equal(zeros, c.number(0)), quotient);
  Value* dy = with_axes(c, c.dy());
  return {g.mul(dy, g.where(is_zero, of_a_zero, of_others))};
}

}  // namespace

constinit const OpDef defs::ReduceL1 = {
    .name = "ReduceL1",
    .infer = infer_shape,
    .steps = kSteps<magnitude>,
    .decompose = decompose<l1>,
    .kernel = run_reduce_l1,
    .gradient = gradient_l1,
};
constinit const OpDef defs::ReduceL2 = {
    .name = "ReduceL2",
    .infer = infer_shape,
    .steps = kSteps<magnitude>,
    .decompose = decompose<l2>,
    .kernel = run_reduce_l2,
    .gradient = gradient_l2,
};
constinit const OpDef defs::ReduceLogSum = {
    .name = "ReduceLogSum",
    .infer = infer_shape,
    .steps = kSteps<logarithm>,
    .decompose = decompose<log_sum>,
    .kernel = run_reduce_log_sum,
    .gradient = gradient_log_sum,
};
constinit const OpDef defs::ReduceLogSumExp = {
    .name = "ReduceLogSumExp",
    .infer = infer_shape,
    .steps = kPlain,
    .decompose = decompose<log_sum_exp>,
    .kernel = run_reduce_log_sum_exp,
    .gradient = gradient_log_sum_exp,
};
constinit const OpDef defs::ReduceMax = {
    .name = "ReduceMax",
    .infer = infer<largest>,
    .steps = kPlain,
    .decompose = decompose_extremum,
    .kernel = run_reduce_max,
    .gradient = gradient_extremum,
};
constinit const OpDef defs::ReduceMean = {
    .name = "ReduceMean",
    .infer = infer_shape,
    .steps = kPlain,
    .decompose = decompose<mean>,
    .kernel = run_reduce_mean,
    .gradient = gradient_mean,
};
constinit const OpDef defs::ReduceMin = {
    .name = "ReduceMin",
    .infer = infer<smallest>,
    .steps = kPlain,
    .decompose = decompose_extremum,
    .kernel = run_reduce_min,
    .gradient = gradient_extremum,
};
constinit const OpDef defs::ReduceProd = {
    .name = "ReduceProd",
    .infer = infer<multiplied>,
    .steps = kPlain,
    .decompose = reduce_computed_axes,
    .kernel = run_reduce_prod,
    .gradient = gradient_prod,
};
constinit const OpDef defs::ReduceSum = {
    .name = "ReduceSum",
    .infer = infer<sum>,
    .steps = kSumSteps,
    .kernel = run_reduce_sum,
    .gradient = gradient_sum,
};
constinit const OpDef defs::ReduceSumSquare = {
    .name = "ReduceSumSquare",
    .infer = infer_shape,
    .steps = kSteps<square>,
    .decompose = decompose<sum_square>,
    .kernel = run_reduce_sum_square,
    .gradient = gradient_sum_square,
};

}  // namespace ingot::ops
