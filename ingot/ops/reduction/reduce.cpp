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

/// The same reduction, of other numbers.
Value* reduced(DecomposeContext& c, Name op, Value* x) { return c.g.op(op, {x, c.in(1)}, attributes_of(c.node)); }

/// Through double, as whole numbers have no roots and logarithms and small types overflow; then back.
template <class F> Values in_double(DecomposeContext& c, F compute) {
  const DType elem = c.elem(0);
  if (elem == DType::undefined) return {};
  return {c.g.cast(compute(c.g.cast(c.in(0), DType::f64)), elem)};
}

Values l1(DecomposeContext& c) { return {reduced(c, "ReduceSum", c.g.op("Abs", {c.in(0)}))}; }
Values sum_square(DecomposeContext& c) { return {reduced(c, "ReduceSum", c.g.mul(c.in(0), c.in(0)))}; }
Values l2(DecomposeContext& c) {
  return in_double(c, [&](Value* x) { return c.g.op("Sqrt", {reduced(c, "ReduceSum", c.g.mul(x, x))}); });
}
Values log_sum(DecomposeContext& c) {
  return in_double(c, [&](Value* x) { return c.g.op("Log", {reduced(c, "ReduceSum", x)}); });
}
Values log_sum_exp(DecomposeContext& c) {
  return in_double(c, [&](Value* x) { return c.g.op("Log", {reduced(c, "ReduceSum", c.g.op("Exp", {x}))}); });
}

/// The sum over the number of summands, which is found by summing ones.
Values mean(DecomposeContext& c) {
  if (!is_float(c.elem(0))) return {};
  Value* ones = c.g.op("Expand", {c.g.scalar(1, c.elem(0)), c.g.shape(c.in(0))});
  return {c.g.div(reduced(c, "ReduceSum", c.in(0)), reduced(c, "ReduceSum", ones))};
}

// Truth values, allowed from 20 on.
Values truth_in_integers(DecomposeContext& c) { return in_wider_type(c, DType::boolean, DType::u8); }

constexpr auto kPlain = std::span<const Step>(kSteps<nullptr>);

}  // namespace

constinit const OpDef defs::ReduceL1 = {
    .name = "ReduceL1", .infer = infer_shape, .steps = kSteps<magnitude>, .decompose = l1};
constinit const OpDef defs::ReduceL2 = {
    .name = "ReduceL2", .infer = infer_shape, .steps = kSteps<magnitude>, .decompose = l2};
constinit const OpDef defs::ReduceLogSum = {
    .name = "ReduceLogSum", .infer = infer_shape, .steps = kSteps<logarithm>, .decompose = log_sum};
constinit const OpDef defs::ReduceLogSumExp = {
    .name = "ReduceLogSumExp", .infer = infer_shape, .steps = kPlain, .decompose = log_sum_exp};
constinit const OpDef defs::ReduceMax = {
    .name = "ReduceMax", .infer = infer<largest>, .steps = kPlain, .decompose = truth_in_integers};
constinit const OpDef defs::ReduceMean = {
    .name = "ReduceMean", .infer = infer_shape, .steps = kPlain, .decompose = mean};
constinit const OpDef defs::ReduceMin = {
    .name = "ReduceMin", .infer = infer<smallest>, .steps = kPlain, .decompose = truth_in_integers};
constinit const OpDef defs::ReduceProd = {.name = "ReduceProd", .infer = infer<multiplied>, .steps = kPlain};
constinit const OpDef defs::ReduceSum = {.name = "ReduceSum", .infer = infer<sum>, .steps = kSumSteps};
constinit const OpDef defs::ReduceSumSquare = {
    .name = "ReduceSumSquare", .infer = infer_shape, .steps = kSteps<square>, .decompose = sum_square};

}  // namespace ingot::ops
