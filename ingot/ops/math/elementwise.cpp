// Functions of one number without attributes: one row per operator.
#include "ingot/ops/math/known_elements.h"
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

}  // namespace

constinit const OpDef defs::Abs = {
    .name = "Abs",
    .infer = infer_unary<magnitude>,
};
constinit const OpDef defs::Neg = {
    .name = "Neg",
    .infer = infer_unary<negative>,
};
constinit const OpDef defs::Sign = {
    .name = "Sign",
    .infer = infer_unary<sign>,
};

// On numbers that are known to be whole, rounding does nothing.
constinit const OpDef defs::Ceil = {
    .name = "Ceil",
    .infer = infer_unary<same_number>,
};
constinit const OpDef defs::Floor = {
    .name = "Floor",
    .infer = infer_unary<same_number>,
};
constinit const OpDef defs::Round = {
    .name = "Round",
    .infer = infer_unary<same_number>,
    .decompose = bfloat16_in_float,
};

constinit const OpDef defs::Erf = {
    .name = "Erf",
    .infer = infer_same_shape,
};
constinit const OpDef defs::Exp = {
    .name = "Exp",
    .infer = infer_same_shape,
};
constinit const OpDef defs::Log = {
    .name = "Log",
    .infer = infer_same_shape,
};
constinit const OpDef defs::Reciprocal = {
    .name = "Reciprocal",
    .infer = infer_same_shape,
};
constinit const OpDef defs::Sigmoid = {
    .name = "Sigmoid",
    .infer = infer_same_shape,
};
constinit const OpDef defs::Sqrt = {
    .name = "Sqrt",
    .infer = infer_same_shape,
};
constinit const OpDef defs::Tanh = {
    .name = "Tanh",
    .infer = infer_same_shape,
};

// bfloat16 is theirs from 22 on.
constinit const OpDef defs::Acos = {
    .name = "Acos",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::Acosh = {
    .name = "Acosh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::Asin = {
    .name = "Asin",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::Asinh = {
    .name = "Asinh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::Atan = {
    .name = "Atan",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::Atanh = {
    .name = "Atanh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::Cos = {
    .name = "Cos",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::Cosh = {
    .name = "Cosh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::Sin = {
    .name = "Sin",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::Sinh = {
    .name = "Sinh",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::Tan = {
    .name = "Tan",
    .infer = infer_same_shape,
    .decompose = bfloat16_in_float,
};

}  // namespace ingot::ops
