// Functions of one number without attributes: one row per operator.
#include <cmath>

#include "ingot/ops/compute.h"
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

}  // namespace

constinit const OpDef defs::Abs = {
    .name = "Abs",
    .infer = infer_unary<magnitude>,
    .kernel = run_abs,
};
constinit const OpDef defs::Neg = {
    .name = "Neg",
    .infer = infer_unary<negative>,
    .kernel = run_neg,
};
constinit const OpDef defs::Sign = {
    .name = "Sign",
    .infer = infer_unary<sign>,
    .kernel = run_sign,
};

// On numbers that are known to be whole, rounding does nothing.
constinit const OpDef defs::Ceil = {
    .name = "Ceil",
    .infer = infer_unary<same_number>,
    .kernel = run_ceil,
};
constinit const OpDef defs::Floor = {
    .name = "Floor",
    .infer = infer_unary<same_number>,
    .kernel = run_floor,
};
constinit const OpDef defs::Round = {
    .name = "Round",
    .infer = infer_unary<same_number>,
    .decompose = bfloat16_in_float,
    .kernel = run_round,
};

constinit const OpDef defs::Erf = {
    .name = "Erf",
    .infer = infer_same_shape,
    .kernel = run_erf,
};
constinit const OpDef defs::Exp = {
    .name = "Exp",
    .infer = infer_same_shape,
    .kernel = run_exp,
};
constinit const OpDef defs::Log = {
    .name = "Log",
    .infer = infer_same_shape,
    .kernel = run_log,
};
constinit const OpDef defs::Reciprocal = {
    .name = "Reciprocal",
    .infer = infer_same_shape,
    .kernel = run_reciprocal,
};
constinit const OpDef defs::Sigmoid = {
    .name = "Sigmoid",
    .infer = infer_same_shape,
    .kernel = run_sigmoid,
};
constinit const OpDef defs::Sqrt = {
    .name = "Sqrt",
    .infer = infer_same_shape,
    .kernel = run_sqrt,
};
constinit const OpDef defs::Tanh = {
    .name = "Tanh",
    .infer = infer_same_shape,
    .kernel = run_tanh,
};

// bfloat16 is theirs from 22 on.
constinit const OpDef defs::Acos = {
    .name = "Acos",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_acos,
};
constinit const OpDef defs::Acosh = {
    .name = "Acosh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_acosh,
};
constinit const OpDef defs::Asin = {
    .name = "Asin",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_asin,
};
constinit const OpDef defs::Asinh = {
    .name = "Asinh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_asinh,
};
constinit const OpDef defs::Atan = {
    .name = "Atan",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_atan,
};
constinit const OpDef defs::Atanh = {
    .name = "Atanh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_atanh,
};
constinit const OpDef defs::Cos = {
    .name = "Cos",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_cos,
};
constinit const OpDef defs::Cosh = {
    .name = "Cosh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_cosh,
};
constinit const OpDef defs::Sin = {
    .name = "Sin",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_sin,
};
constinit const OpDef defs::Sinh = {
    .name = "Sinh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_sinh,
};
constinit const OpDef defs::Tan = {
    .name = "Tan",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
    .kernel = run_tan,
};

}  // namespace ingot::ops
