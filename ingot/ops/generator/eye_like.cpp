// EyeLike: ones on a diagonal of a matrix of zeros.
#include <algorithm>

#include "ingot/ops/compute.h"
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

void run(KernelContext& c) {
  const Array& x = c.in(0);
  if (x.rank() != 2) c.fail("the input is no matrix");
  const std::int64_t to = c.attr("dtype", static_cast<std::int64_t>(x.dtype())), k = c.attr("k", std::int64_t{0});
  if (!is_valid_dtype(to)) c.fail("attribute 'dtype' is no element type");
  const std::int64_t rows = x.dims()[0], columns = x.dims()[1];
  Array eye = scratch(c, DType::f32, x.dims());
  const auto out = eye.mutable_data<float>();
  std::ranges::fill(out, 0.0f);
  if (k > -rows && k < columns)
    for (std::int64_t row = std::max<std::int64_t>(0, -k); row < rows && row + k < columns; ++row)
      out[static_cast<std::size_t>(row * columns + row + k)] = 1;
  put(c, 0, eye, static_cast<DType>(to));
}

}  // namespace

constinit const OpDef defs::EyeLike = {
    .name = "EyeLike",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient_zero,
};

}  // namespace ingot::ops
