// IsInf and IsNaN: which floating numbers are none.
#include "ingot/ops/infer.h"
#include "ingot/ops/math/wider_type.h"

namespace ingot::ops {
namespace {

// A float holds every number of the smaller types, their infinities and NaN included.
Values in_float(DecomposeContext& c) {
  const DType elem = c.elem(0);
  if (!is_float(elem) || elem == DType::f32 || elem == DType::f64) return {};
  return in_wider_type(c, elem, DType::f32);
}

}  // namespace

constinit const OpDef defs::IsInf = {
    .name = "IsInf",
    .infer = infer_same_shape,
    .decompose = in_float,
};
constinit const OpDef defs::IsNaN = {
    .name = "IsNaN",
    .infer = infer_same_shape,
    .decompose = in_float,
};

}  // namespace ingot::ops
