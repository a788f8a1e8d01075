// Flatten: a matrix whose rows are the dimensions before an axis and whose columns are the rest.
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"
#include "ingot/ops/tensor/negative_axes.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {{.since = 11, .down = down_to_axis_from_front}};

void infer(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return c.out_rank(0, 2);
  const auto rank = static_cast<std::int64_t>(x->size());
  std::int64_t axis = c.attr("axis", std::int64_t{1});
  if (axis < -rank || axis > rank) c.axis(axis, rank);  // refuses; the axis may be the rank itself
  if (axis < 0) axis += rank;
  const auto split = x->begin() + axis;
  c.out_shape(0, {product({x->begin(), split}), product({split, x->end()})});
}

Values gradient_flatten(GradContext& c) { return {c.shaped(c.dy(), c.x())}; }

void run(KernelContext& c) {
  const Array& x = c.in(0);
  std::int64_t axis = c.attr("axis", std::int64_t{1});
  if (axis != x.rank()) axis = c.axis(axis, x.rank());
  const auto split = x.dims().begin() + axis;
  c.set(0, x.reshaped({tensor_size({x.dims().begin(), split}), tensor_size({split, x.dims().end()})}));
}

}  // namespace

constinit const OpDef defs::Flatten = {
    .name = "Flatten",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
    .gradient = gradient_flatten,
};

}  // namespace ingot::ops
