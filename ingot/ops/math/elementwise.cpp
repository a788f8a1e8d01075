// Functions of one number without attributes: one row per operator.
#include <cmath>

#include "ingot/ops/compute.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/known_elements.h"
#include "ingot/ops/math/scalar_functions.h"
#include "ingot/ops/math/wider_type.h"

namespace ingot::ops {
namespace {

Dim same_number(std::span<const Dim> x) { return x[0]; }
Dim negative(std::span<const Dim> x) { return -x[0]; }

Dim magnitude(std::span<const Dim> x) {
  if (x[0].is_at_least(0)) return x[0];
  const Dim opposite = -x[0];
  return opposite.is_at_least(0) ? opposite : Dim();
}

Dim sign(std::span<const Dim> x) {
  if (x[0].is_at_least(1)) return 1;
  if ((-x[0]).is_at_least(1)) return -1;
  return x[0].as_int() == 0 ? Dim(0) : Dim();
}

void run_abs(KernelContext& c) {
  map_unary(c, ComputeNumbers{}, []<class T>(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return std::abs(x);
    else
      return x < T{0} ? wrapping_negative(x) : x;
  });
}

void run_neg(KernelContext& c) {
  map_unary(c, ComputeNumbers{}, []<class T>(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return wrapping_negative(x);
  });
}

void run_sign(KernelContext& c) {
  // NaN stays NaN.
  map_unary(c, ComputeNumbers{}, []<class T>(T x) {
    if (x > T{0}) return T{1};
    return x < T{0} ? static_cast<T>(-1) : x == T{0} ? T{0} : x;
  });
}

// Neither end overflows.
void run_sigmoid(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return sigmoid(x); });
}

void run_ceil(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::ceil(x); });
}
void run_floor(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::floor(x); });
}
// Halves go to the even neighbour.
void run_round(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::nearbyint(x); });
}
void run_erf(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::erf(x); });
}
void run_exp(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::exp(x); });
}
void run_log(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::log(x); });
}
void run_reciprocal(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return 1 / x; });
}
void run_sqrt(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::sqrt(x); });
}
void run_tanh(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::tanh(x); });
}
void run_acos(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::acos(x); });
}
void run_acosh(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::acosh(x); });
}
void run_asin(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::asin(x); });
}
void run_asinh(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::asinh(x); });
}
void run_atan(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::atan(x); });
}
void run_atanh(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::atanh(x); });
}
void run_cos(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::cos(x); });
}
void run_cosh(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::cosh(x); });
}
void run_sin(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::sin(x); });
}
void run_sinh(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::sinh(x); });
}
void run_tan(KernelContext& c) {
  map_unary(c, ComputeFloats{}, [](auto x) { return std::tan(x); });
}

Values gradient_abs(GradContext& c) { return {c.g.mul(c.dy(), c.g.op("Sign", {c.x()}))}; }
Values gradient_neg(GradContext& c) { return {c.g.neg(c.dy())}; }

Values gradient_erf(GradContext& c) {
  constexpr double kSlopeAtZero = 1.1283791670955126;  // 2 / sqrt(pi)
  Value* bell = c.g.op("Exp", {c.g.neg(c.g.mul(c.x(), c.x()))});
  return {c.g.mul(c.dy(), c.g.mul(bell, kSlopeAtZero))};
}

Values gradient_exp(GradContext& c) { return {c.g.mul(c.dy(), c.y())}; }
Values gradient_log(GradContext& c) { return {c.g.div(c.dy(), c.x())}; }
Values gradient_reciprocal(GradContext& c) { return {c.g.neg(c.g.mul(c.dy(), c.g.mul(c.y(), c.y())))}; }
Values gradient_sigmoid(GradContext& c) { return {c.g.mul(c.dy(), c.g.mul(c.y(), c.g.sub(1, c.y())))}; }
Values gradient_sqrt(GradContext& c) { return {c.g.div(c.dy(), c.g.mul(c.y(), 2))}; }
Values gradient_tanh(GradContext& c) { return {c.g.mul(c.dy(), c.g.sub(1, c.g.mul(c.y(), c.y())))}; }

Value* square(GradContext& c) { return c.g.mul(c.x(), c.x()); }
Value* root(GradContext& c, Value* x) { return c.g.op("Sqrt", {x}); }

Values gradient_asin(GradContext& c) { return {c.g.div(c.dy(), root(c, c.g.sub(1, square(c))))}; }
Values gradient_acos(GradContext& c) { return {c.g.neg(gradient_asin(c).front())}; }
Values gradient_acosh(GradContext& c) { return {c.g.div(c.dy(), root(c, c.g.sub(square(c), 1)))}; }
Values gradient_asinh(GradContext& c) { return {c.g.div(c.dy(), root(c, c.g.add(square(c), 1)))}; }
Values gradient_atan(GradContext& c) { return {c.g.div(c.dy(), c.g.add(square(c), 1))}; }
Values gradient_atanh(GradContext& c) { return {c.g.div(c.dy(), c.g.sub(1, square(c)))}; }
Values gradient_cos(GradContext& c) { return {c.g.neg(c.g.mul(c.dy(), c.g.op("Sin", {c.x()})))}; }
Values gradient_cosh(GradContext& c) { return {c.g.mul(c.dy(), c.g.op("Sinh", {c.x()}))}; }
Values gradient_sin(GradContext& c) { return {c.g.mul(c.dy(), c.g.op("Cos", {c.x()}))}; }
Values gradient_sinh(GradContext& c) { return {c.g.mul(c.dy(), c.g.op("Cosh", {c.x()}))}; }
Values gradient_tan(GradContext& c) { return {c.g.mul(c.dy(), c.g.add(c.g.mul(c.y(), c.y()), 1))}; }

}  // namespace

constinit const OpDef defs::Abs = {
    .name = "Abs",
    .infer = infer_unary<magnitude>,
    .kernel = run_abs,
    .gradient = gradient_abs,
};
constinit const OpDef defs::Neg = {
    .name = "Neg",
    .infer = infer_unary<negative>,
    .kernel = run_neg,
    .gradient = gradient_neg,
};
constinit const OpDef defs::Sign = {
    .name = "Sign",
    .infer = infer_unary<sign>,
    .kernel = run_sign,
    .gradient = gradient_zero,
};

// On numbers that are known to be whole, rounding does nothing.
constinit const OpDef defs::Ceil = {
    .name = "Ceil",
    .infer = infer_unary<same_number>,
    .kernel = run_ceil,
    .gradient = gradient_zero,
};
constinit const OpDef defs::Floor = {
    .name = "Floor",
    .infer = infer_unary<same_number>,
    .kernel = run_floor,
    .gradient = gradient_zero,
};
constinit const OpDef defs::Round = {
    .name = "Round",
    .infer = infer_unary<same_number>,
    .decompose = bfloat16_in_float,
    .kernel = run_round,
    .gradient = gradient_zero,
};

constinit const OpDef defs::Erf = {
    .name = "Erf",
    .infer = infer_same_shape,
    .kernel = run_erf,
    .gradient = gradient_erf,
};
constinit const OpDef defs::Exp = {
    .name = "Exp",
    .infer = infer_same_shape,
    .kernel = run_exp,
    .gradient = gradient_exp,
};
constinit const OpDef defs::Log = {
    .name = "Log",
    .infer = infer_same_shape,
    .kernel = run_log,
    .gradient = gradient_log,
};
constinit const OpDef defs::Reciprocal = {
    .name = "Reciprocal",
    .infer = infer_same_shape,
    .kernel = run_reciprocal,
    .gradient = gradient_reciprocal,
};
constinit const OpDef defs::Sigmoid = {
    .name = "Sigmoid",
    .infer = infer_same_shape,
    .kernel = run_sigmoid,
    .gradient = gradient_sigmoid,
};
constinit const OpDef defs::Sqrt = {
    .name = "Sqrt",
    .infer = infer_same_shape,
    .kernel = run_sqrt,
    .gradient = gradient_sqrt,
};
constinit const OpDef defs::Tanh = {
    .name = "Tanh",
    .infer = infer_same_shape,
    .kernel = run_tanh,
    .gradient = gradient_tanh,
};

// bfloat16 is theirs from 22 on.
constinit const OpDef defs::Acos = {
    .name = "Acos",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_acos,
    .gradient = gradient_acos,
};
constinit const OpDef defs::Acosh = {
    .name = "Acosh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_acosh,
    .gradient = gradient_acosh,
};
constinit const OpDef defs::Asin = {
    .name = "Asin",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_asin,
    .gradient = gradient_asin,
};
constinit const OpDef defs::Asinh = {
    .name = "Asinh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_asinh,
    .gradient = gradient_asinh,
};
constinit const OpDef defs::Atan = {
    .name = "Atan",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_atan,
    .gradient = gradient_atan,
};
constinit const OpDef defs::Atanh = {
    .name = "Atanh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_atanh,
    .gradient = gradient_atanh,
};
constinit const OpDef defs::Cos = {
    .name = "Cos",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_cos,
    .gradient = gradient_cos,
};
constinit const OpDef defs::Cosh = {
    .name = "Cosh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_cosh,
    .gradient = gradient_cosh,
};
constinit const OpDef defs::Sin = {
    .name = "Sin",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_sin,
    .gradient = gradient_sin,
};
constinit const OpDef defs::Sinh = {
    .name = "Sinh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_sinh,
    .gradient = gradient_sinh,
};
constinit const OpDef defs::Tan = {
    .name = "Tan",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_tan,
    .gradient = gradient_tan,
};

}  // namespace ingot::ops
