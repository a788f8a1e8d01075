// PRelu: x, or slope * x where x is negative.
#include <numeric>

#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/legacy_broadcast.h"
#include "ingot/ops/math/scalar_functions.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  c.out_shape_like(0, 0);
  const Shape *x = c.shape(0), *slope = c.shape(1);
  if (!x || !slope) return;
  c.require(slope->size() <= x->size(), "the slope has a higher rank than the input");
  for (std::size_t i = 0; i < slope->size(); ++i) {
    const Dim& s = (*slope)[i];
    const Dim& d = (*x)[x->size() - slope->size() + i];
    if (!may_equal(s, 1) && !may_equal(s, d))
      c.fail("a slope of " + s.str() + " does not fit a dimension of " + d.str());
  }
}

// Until 6 the slope was one number, or one per channel: a vector along axis 1.
void up_from_channels(StepContext& c) {
  const auto& slope = c.type(1).shape;
  if (slope && (slope->size() != 1 || slope->front().as_int() == 1)) return;
  if (!c.rank(0)) {
    Value* rank = rank_of(c.g, c.node.input(0));
    Value* count = c.g.sub(rank, c.g.ints({2}));
    c.node.set_input(1, with_trailing_ones(c.g, c.node.input(1), count));
    return;
  }
  const std::int64_t rank = *c.rank(0);
  if (rank <= 2) return;
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank - 2));
  std::iota(axes.begin(), axes.end(), 1);
  c.need_rank(1);
  c.node.set_input(1, c.g.op("Unsqueeze", {c.node.input(1)}, {{"axes", axes}}));
}

void down_to_channels(StepContext& c) {
  const std::int64_t rank = c.need_rank(0), slope_rank = c.need_rank(1);
  const Shape& slope = *c.type(1).shape;
  for (std::int64_t i = 0; i < slope_rank; ++i)
    if (rank - slope_rank + i != 1 && slope[static_cast<std::size_t>(i)].as_int() != 1)
      c.cannot("operator set 6 knows one slope per channel only");
  if (slope_rank != 1) c.node.set_input(1, c.g.reshape(c.node.input(1), {-1}));
}

constexpr Step kSteps[] = {{.since = 7, .up = up_from_channels, .down = down_to_channels}};

Values decompose(DecomposeContext& c) {
  if (c.elem(0) == DType::undefined) return {};
  Value* is_below = c.g.op("Less", {c.in(0), c.g.scalar(0, c.elem(0))});
  return {c.g.where(is_below, c.g.mul(c.in(1), c.in(0)), c.in(0))};
}

void run(KernelContext& c) {
  const Dims &x = c.in(0).dims(), &slope = c.in(1).dims();
  if (broadcast_dims(c, {&x, &slope}) != x) c.fail("the slope does not broadcast to the input");
  map_binary(c, ComputeNumbers{},
             []<class T>(T number, T factor) { return number < T{0} ? wrapping_mul(factor, number) : number; });
}

Values gradient_prelu(GradContext& c) {
  Value* is_positive = c.less(c.number(0), c.x());
  Value* dx = c.g.where(is_positive, c.dy(), c.g.mul(c.dy(), c.x(1)));
  Value* rise = c.g.mul(c.dy(), c.x());
  Value* each = c.g.where(is_positive, c.number(0), rise);
  return {dx, c.sum_to(each, c.x(1))};
}

}  // namespace

constinit const OpDef defs::PRelu = {
    .name = "PRelu",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient_prelu,
};

}  // namespace ingot::ops
