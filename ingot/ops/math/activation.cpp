// Activations of one number, each with its formula in simpler operators.
#include <cmath>

#include "ingot/base/checked.h"
#include "ingot/ops/compute.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/known_elements.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/math/scalar_functions.h"
#include "ingot/ops/math/wider_type.h"
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
  if (Values made = halves_in_float(c); !made.empty()) return made;  // rounds once
  Value* below = c.g.mul(c.g.sub(c.g.op("Exp", {c.in(0)}), 1), c.attr("alpha", 1.0f));
  return {by_sign(c, below, c.in(0))};
}

Values celu(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  if (Values made = halves_in_float(c); !made.empty()) return made;  // rounds once
  const float alpha = c.attr("alpha", 1.0f);
  return {c.g.mul(c.g.op("Elu", {c.g.div(c.in(0), alpha)}), alpha)};
}

Values selu(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  if (Values made = halves_in_float(c); !made.empty()) return made;  // rounds once
  const float alpha = c.attr("alpha", 1.67326319217681884765625f), gamma = c.attr("gamma", 1.05070102214813232421875f);
  Value* below = c.g.sub(c.g.mul(c.g.op("Exp", {c.in(0)}), alpha), alpha);
  below = c.g.mul(below, gamma);
  return {by_sign(c, below, c.g.mul(c.in(0), gamma))};
}

Values hard_sigmoid(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  if (Values made = halves_in_float(c); !made.empty()) return made;  // rounds once
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
  if (Values made = halves_in_float(c); !made.empty()) return made;  // rounds once
  Value* x = c.in(0);
  Value* tail = c.g.op("Log", {c.g.add(c.g.op("Exp", {c.g.neg(c.g.op("Abs", {x}))}), 1)});
  return {c.g.add(c.g.op("Max", {x, c.g.scalar(0, c.elem(0))}), tail)};
}

Values softsign(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  if (Values made = halves_in_float(c); !made.empty()) return made;  // rounds once
  return {c.g.div(c.in(0), c.g.add(c.g.op("Abs", {c.in(0)}), 1))};
}

Values mish(DecomposeContext& c) {
  if (!c.in(0)) return {};
  return {c.g.mul(c.in(0), c.g.op("Tanh", {c.g.op("Softplus", {c.in(0)})}))};
}

Values swish(DecomposeContext& c) {
  if (!is_typed(c)) return {};
  if (Values made = halves_in_float(c); !made.empty()) return made;  // rounds once
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

void run_leaky_relu(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [alpha = c.attr("alpha", 0.01f)]<class T>(T x) { return x < 0 ? T{alpha} * x : x; });
}

void run_thresholded_relu(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [alpha = c.attr("alpha", 1.0f)]<class T>(T x) { return x > T{alpha} ? x : T{0}; });
}

void run_elu(KernelContext& c) {
  map_unary(c, ComputeFloats{},
            [alpha = c.attr("alpha", 1.0f)]<class T>(T x) { return x < 0 ? T{alpha} * std::expm1(x) : x; });
}

void run_celu(KernelContext& c) {
  map_unary(c, ComputeFloats{},
            [alpha = c.attr("alpha", 1.0f)]<class T>(T x) { return x < 0 ? T{alpha} * std::expm1(x / T{alpha}) : x; });
}

void run_selu(KernelContext& c) {
  const float alpha = c.attr("alpha", 1.67326319217681884765625f), gamma = c.attr("gamma", 1.05070102214813232421875f);
  map_unary(c, ComputeFloats{}, [&]<class T>(T x) { return T{gamma} * (x < 0 ? T{alpha} * std::expm1(x) : x); });
}

/// The line alpha * x + beta between 0 and 1.
template <class T> T hard_sigmoid_of(T x, T alpha, T beta) {
  const T line = alpha * x + beta;
  return line < 0 ? T{0} : line > 1 ? T{1} : line;
}

void run_hard_sigmoid(KernelContext& c) {
  const float alpha = c.attr("alpha", 0.2f), beta = c.attr("beta", 0.5f);
  map_unary(c, ComputeFloats{}, [&]<class T>(T x) { return hard_sigmoid_of(x, T{alpha}, T{beta}); });
}

void run_hard_swish(KernelContext& c) {
  map_unary(c, ComputeFloats{}, []<class T>(T x) { return x * hard_sigmoid_of(x, T{1} / 6, T{0.5}); });
}

void run_softplus(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return ops::softplus(x); });
}

void run_softsign(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return x / (1 + std::abs(x)); });
}

void run_mish(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return x * std::tanh(ops::softplus(x)); });
}

void run_swish(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [alpha = c.attr("alpha", 1.0f)]<class T>(T x) { return x * sigmoid(T{alpha} * x); });
}

void run_shrink(KernelContext& c) {
  const float lambd = c.attr("lambd", 0.5f), bias = c.attr("bias", 0.0f);
  map_unary(c, ComputeNumbers{}, [&]<class T>(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return x < -T{lambd} ? x + T{bias} : x > T{lambd} ? x - T{bias} : T{0};
    } else {
      // The numbers are rounded towards zero into the type of x.
      const T limit = saturate_cast<T>(lambd), shift = saturate_cast<T>(bias);
      if (std::is_signed_v<T> && x < wrapping_negative(limit)) return wrapping_add(x, shift);
      return x > limit ? wrapping_add(x, wrapping_negative(shift)) : T{0};
    }
  });
}

Value* is_positive(GradContext& c) { return c.less(c.number(0), c.x()); }

Values gradient_relu(GradContext& c) { return {c.keep(is_positive(c), c.dy())}; }

Values gradient_leaky_relu(GradContext& c) {
  Value* below = c.g.mul(c.dy(), c.attr("alpha", 0.01f));
  return {c.g.where(is_positive(c), c.dy(), below)};
}

Values gradient_thresholded_relu(GradContext& c) {
  return {c.keep(c.less(c.number(c.attr("alpha", 1.0f)), c.x()), c.dy())};
}

// Below zero the exponential is the result itself, moved up.
Values gradient_elu(GradContext& c) {
  Value* below = c.g.mul(c.dy(), c.g.add(c.y(), c.attr("alpha", 1.0f)));
  return {c.g.where(is_positive(c), c.dy(), below)};
}

Values gradient_celu(GradContext& c) {
  Value* below = c.g.mul(c.dy(), c.g.add(c.g.div(c.y(), c.attr("alpha", 1.0f)), 1));
  return {c.g.where(is_positive(c), c.dy(), below)};
}

Values gradient_selu(GradContext& c) {
  const double alpha = c.attr("alpha", 1.67326319217681884765625f), gamma = c.attr("gamma", 1.05070102214813232421875f);
  Value* below = c.g.mul(c.dy(), c.g.add(c.y(), alpha * gamma));
  Value* above = c.g.mul(c.dy(), gamma);
  return {c.g.where(is_positive(c), above, below)};
}

Values gradient_hard_sigmoid(GradContext& c) {
  Value *is_above = c.less(c.number(0), c.y()), *is_below = c.less(c.y(), c.number(1));
  Value* slope = c.g.mul(c.dy(), c.attr("alpha", 0.2f));
  return {c.keep(c.g.op("And", {is_above, is_below}), slope)};
}

Values gradient_hard_swish(GradContext& c) {
  Value* curve = c.g.mul(c.dy(), c.g.add(c.g.div(c.x(), 3), 0.5));
  Value *is_low = c.less(c.x(), c.number(-3)), *is_high = c.less(c.number(3), c.x());
  return {c.g.where(is_high, c.dy(), c.g.where(is_low, c.number(0), curve))};
}

Values gradient_softplus(GradContext& c) { return {c.g.mul(c.dy(), c.g.op("Sigmoid", {c.x()}))}; }

Values gradient_softsign(GradContext& c) {
  Value* size = c.g.add(c.g.op("Abs", {c.x()}), 1);
  return {c.g.div(c.dy(), c.g.mul(size, size))};
}

Values gradient_shrink(GradContext& c) {
  Value* lambd = c.number(c.attr("lambd", 0.5f));
  return {c.keep(c.less(lambd, c.g.op("Abs", {c.x()})), c.dy())};
}

/// A formula for all types but bfloat16, whose few digits would not survive its steps: it is computed in float.
template <Values (*formula)(DecomposeContext&)> Values careful(DecomposeContext& c) {
  return c.elem(0) == DType::bf16 ? bfloat16_in_float(c) : formula(c);
}

// Until 27 it knew float only.
Values careful_celu(DecomposeContext& c) { return c.elem(0) == DType::f16 ? halves_in_float(c) : careful<celu>(c); }

}  // namespace

constinit const OpDef defs::Celu = {
    .name = "Celu",
    .infer = infer_same_shape,
    .decompose = careful_celu,
    .kernel = run_celu,
    .gradient = gradient_celu,
};
constinit const OpDef defs::Elu = {
    .name = "Elu",
    .infer = infer_same_shape,
    .decompose = careful<elu>,
    .kernel = run_elu,
    .gradient = gradient_elu,
};
constinit const OpDef defs::HardSigmoid = {
    .name = "HardSigmoid",
    .infer = infer_same_shape,
    .decompose = careful<hard_sigmoid>,
    .kernel = run_hard_sigmoid,
    .gradient = gradient_hard_sigmoid,
};
constinit const OpDef defs::HardSwish = {
    .name = "HardSwish",
    .infer = infer_same_shape,
    .decompose = careful<hard_swish>,
    .kernel = run_hard_swish,
    .gradient = gradient_hard_swish,
};
constinit const OpDef defs::LeakyRelu = {
    .name = "LeakyRelu",
    .infer = infer_same_shape,
    .decompose = leaky_relu,
    .kernel = run_leaky_relu,
    .gradient = gradient_leaky_relu,
};
constinit const OpDef defs::Mish = {
    .name = "Mish",
    .infer = infer_same_shape,
    .decompose = careful<mish>,
    .kernel = run_mish,
};
constinit const OpDef defs::Relu = {
    .name = "Relu",
    .infer = infer_unary<relu_of>,
    .decompose = relu,
    .kernel = run_relu,
    .gradient = gradient_relu,
};
constinit const OpDef defs::Selu = {
    .name = "Selu",
    .infer = infer_same_shape,
    .decompose = careful<selu>,
    .kernel = run_selu,
    .gradient = gradient_selu,
};
constinit const OpDef defs::Shrink = {
    .name = "Shrink",
    .infer = infer_same_shape,
    .decompose = shrink,
    .kernel = run_shrink,
    .gradient = gradient_shrink,
};
constinit const OpDef defs::Softplus = {
    .name = "Softplus",
    .infer = infer_same_shape,
    .decompose = careful<softplus>,
    .kernel = run_softplus,
    .gradient = gradient_softplus,
};
constinit const OpDef defs::Softsign = {
    .name = "Softsign",
    .infer = infer_same_shape,
    .decompose = careful<softsign>,
    .kernel = run_softsign,
    .gradient = gradient_softsign,
};
constinit const OpDef defs::Swish = {
    .name = "Swish",
    .infer = infer_same_shape,
    .decompose = careful<swish>,
    .kernel = run_swish,
};
constinit const OpDef defs::ThresholdedRelu = {
    .name = "ThresholdedRelu",
    .infer = infer_same_shape,
    .decompose = thresholded_relu,
    .kernel = run_thresholded_relu,
    .gradient = gradient_thresholded_relu,
};

}  // namespace ingot::ops
