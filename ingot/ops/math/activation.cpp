// Activations of one number, each with its formula in simpler operators.
#include <cmath>

#include "ingot/ops/compute.h"
#include "ingot/ops/math/known_elements.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

/// Formulas write their numbers in the type of x, so it must be known.
bool is_typed(const DecomposeContext& c) { return c.in(0) && c.elem(0) != DType::undefined; }

Dim relu_of(std::span<const Dim> x) { return max(x[0], 0); }

Values relu(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  return {c.g.op("Max", {c.in(0), c.g.scalar(0, c.elem(0))})};
}

/// `below` where x < 0, else `above`.
Value* by_sign(DecomposeContext& c, Value* below, Value* above) {
  return c.g.where(c.g.op("Less", {c.in(0), c.g.scalar(0, c.elem(0))}), below, above);
}

Values leaky_relu(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  return {by_sign(c, c.g.mul(c.in(0), c.attr("alpha", 0.01f)), c.in(0))};
}

Values thresholded_relu(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  Value* alpha = c.g.scalar(c.attr("alpha", 1.0f), c.elem(0));
  return {c.g.where(c.g.op("Less", {alpha, c.in(0)}), c.in(0), c.g.scalar(0, c.elem(0)))};
}

Values elu(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  Value* below = c.g.mul(c.g.sub(c.g.op("Exp", {c.in(0)}), 1), c.attr("alpha", 1.0f));
  return {by_sign(c, below, c.in(0))};
}

Values celu(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  const float alpha = c.attr("alpha", 1.0f);
  return {c.g.mul(c.g.op("Elu", {c.g.div(c.in(0), alpha)}), alpha)};
}

Values selu(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  const float alpha = c.attr("alpha", 1.67326319217681884765625f), gamma = c.attr("gamma", 1.05070102214813232421875f);
  Value* below = c.g.sub(c.g.mul(c.g.op("Exp", {c.in(0)}), alpha), alpha);
  below = c.g.mul(below, gamma);
  return {by_sign(c, below, c.g.mul(c.in(0), gamma))};
}

Values hard_sigmoid(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  Value* line = c.g.add(c.g.mul(c.in(0), c.attr("alpha", 0.2f)), c.attr("beta", 0.5f));
  Value* capped = c.g.op("Min", {line, c.g.scalar(1, c.elem(0))});
  return {c.g.op("Max", {capped, c.g.scalar(0, c.elem(0))})};
}

Values hard_swish(DecomposeContext& c) {
  if (!c.in(0)) return {};
  return {c.g.mul(c.in(0), c.g.op("HardSigmoid", {c.in(0)}, {{"alpha", 1.0f / 6.0f}, {"beta", 0.5f}}))};
}

// log(1 + exp(x)), written so that a large x does not overflow.
Values softplus(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  Value* x = c.in(0);
  Value* tail = c.g.op("Log", {c.g.add(c.g.op("Exp", {c.g.neg(c.g.op("Abs", {x}))}), 1)});
  return {c.g.add(c.g.op("Max", {x, c.g.scalar(0, c.elem(0))}), tail)};
}

Values softsign(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  return {c.g.div(c.in(0), c.g.add(c.g.op("Abs", {c.in(0)}), 1))};
}

Values mish(DecomposeContext& c) {
  if (!c.in(0)) return {};
  return {c.g.mul(c.in(0), c.g.op("Tanh", {c.g.op("Softplus", {c.in(0)})}))};
}

Values swish(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  const float alpha = c.attr("alpha", 1.0f);
  Value* scaled = alpha == 1 ? c.in(0) : c.g.mul(c.in(0), alpha);
  return {c.g.mul(c.in(0), c.g.op("Sigmoid", {scaled}))};
}

// Numbers are rounded towards zero where x is of an integer type.
Values shrink(DecomposeContext& c) {
  const DType elem = c.elem(0);
  if (!is_typed(c) || (is_integer(elem) && !is_signed_integer(elem))) return {};
  const auto number = [&](double value) { return c.g.scalar(is_integer(elem) ? std::trunc(value) : value, elem); };
  const double lambd = c.attr("lambd", 0.5f);
  Value *x = c.in(0), *bias = number(c.attr("bias", 0.0f));
  Value *lowered = c.g.sub(x, bias), *raised = c.g.add(x, bias);
  Value *is_above = c.g.op("Less", {number(lambd), x}), *is_below = c.g.op("Less", {x, number(-lambd)});
  return {c.g.where(is_below, raised, c.g.where(is_above, lowered, number(0)))};
}

void run_relu(KernelContext& c) {
  // NaN stays NaN.
  map_unary(c, ComputeNumbers{}, []<class T>(T x) { return x < T{0} ? T{0} : x; });
}

}  // namespace

constinit const OpDef defs::Celu = {
    .name = "Celu",
    .infer = infer_same_shape,
    .decompose = celu,
};
constinit const OpDef defs::Elu = {
    .name = "Elu",
    .infer = infer_same_shape,
    .decompose = elu,
};
constinit const OpDef defs::HardSigmoid = {
    .name = "HardSigmoid",
    .infer = infer_same_shape,
    .decompose = hard_sigmoid,
};
constinit const OpDef defs::HardSwish = {
    .name = "HardSwish",
    .infer = infer_same_shape,
    .decompose = hard_swish,
};
constinit const OpDef defs::LeakyRelu = {
    .name = "LeakyRelu",
    .infer = infer_same_shape,
    .decompose = leaky_relu,
};
constinit const OpDef defs::Mish = {
    .name = "Mish",
    .infer = infer_same_shape,
    .decompose = mish,
};
constinit const OpDef defs::Relu = {
    .name = "Relu",
    .infer = infer_unary<relu_of>,
    .decompose = relu,
    .kernel = run_relu,
};
constinit const OpDef defs::Selu = {
    .name = "Selu",
    .infer = infer_same_shape,
    .decompose = selu,
};
constinit const OpDef defs::Shrink = {
    .name = "Shrink",
    .infer = infer_same_shape,
    .decompose = shrink,
};
constinit const OpDef defs::Softplus = {
    .name = "Softplus",
    .infer = infer_same_shape,
    .decompose = softplus,
};
constinit const OpDef defs::Softsign = {
    .name = "Softsign",
    .infer = infer_same_shape,
    .decompose = softsign,
};
constinit const OpDef defs::Swish = {
    .name = "Swish",
    .infer = infer_same_shape,
    .decompose = swish,
};
constinit const OpDef defs::ThresholdedRelu = {
    .name = "ThresholdedRelu",
    .infer = infer_same_shape,
    .decompose = thresholded_relu,
};

}  // namespace ingot::ops
