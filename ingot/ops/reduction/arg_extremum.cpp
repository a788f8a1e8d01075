// ArgMax and ArgMin: where along an axis the largest or smallest number is.
#include "ingot/ops/infer.h"
#include "ingot/ops/math/nonnegative_axis.h"
#include "ingot/ops/math/wider_type.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  const auto axis = c.axis(c.attr("axis", std::int64_t{0}), static_cast<std::int64_t>(x->size()));
  Shape y = *x;
  if (c.attr("keepdims", std::int64_t{1}) != 0)
    y[static_cast<std::size_t>(axis)] = 1;
  else
    y.erase(y.begin() + axis);
  c.out_shape(0, std::move(y));
}

constexpr Step kSteps[] = {{.since = 11, .down = down_to_nonnegative_axis}};

}  // namespace

constinit const OpDef defs::ArgMax = {
    .name = "ArgMax",
    .infer = infer,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::ArgMin = {
    .name = "ArgMin",
    .infer = infer,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
};

}  // namespace ingot::ops
