// EyeLike: ones on a diagonal of a matrix of zeros.
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/type_attribute.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  if (const auto rank = c.rank(0)) c.require(*rank == 2, "the input is no matrix");
  c.out_rank(0, 2);
  c.out_shape_like(0, 0);
  out_elem_from_attribute(c, "dtype", c.elem(0));
}

// bfloat16, allowed from 22 on.
Values decompose(DecomposeContext& c) {
  const DType from = c.elem(0);
  const std::int64_t to = c.attr("dtype", static_cast<std::int64_t>(from));
  if (!is_valid_dtype(to) || (from != DType::bf16 && static_cast<DType>(to) != DType::bf16)) return {};
  Value* like = from == DType::bf16 ? c.g.cast(c.in(0), DType::f32) : c.in(0);
  Value* eye = c.g.op("EyeLike", {like}, {{"dtype", DType::f32}, {"k", c.attr("k", std::int64_t{0})}});
  return {c.g.cast(eye, static_cast<DType>(to))};
}

}  // namespace

constinit const OpDef defs::EyeLike = {
    .name = "EyeLike",
    .infer = infer,
    .decompose = decompose,
    .gradient = gradient_zero,
};

}  // namespace ingot::ops
