// RMSNormalization: divides by the root of the mean square over the last axes, then scales.
#include <cmath>

#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/nn/moments.h"
#include "ingot/ops/nn/trailing_axes.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  if (!stash_type(c.node().attributes)) c.fail("attribute 'stash_type' is no floating-point type");
  const Shape* x = c.shape(0);
  if (!x) return;
  c.axis(c.attr("axis", std::int64_t{-1}), static_cast<std::int64_t>(x->size()));
  if (const Shape* scale = c.shape(1))
    if (broadcast(c, *x, *scale).size() != x->size()) c.fail("the scale must fit the input's shape");
  c.out_shape(0, *x);
}

Values decompose(DecomposeContext& c) {
  const auto stash = stash_type(c.node.attributes);
  if (!c.in(0) || !c.in(1) || c.elem(1) == DType::undefined || !stash) return {};
  Value* axes = trailing_axes(c, c.attr("axis", std::int64_t{-1}));
  Value* x = c.g.cast(c.in(0), *stash);
  Value* mean_square = c.g.op("ReduceMean", {c.g.mul(x, x), axes});
  Value* epsilon = c.g.scalar(static_cast<double>(c.attr("epsilon", 1e-5f)), *stash);
  Value* normal = c.g.div(x, c.g.op("Sqrt", {c.g.add(mean_square, epsilon)}));
  // The scale's type is the output's: where it differs from the input's, so does the product's.
  if (c.elem(0) != DType::undefined) normal = c.g.cast(normal, c.elem(0));
  return {c.g.mul(c.g.cast(normal, c.elem(1)), c.in(1))};
}

void run(KernelContext& c) {
  if (!stash_type(c.node.attributes)) c.fail("attribute 'stash_type' is no floating-point type");
  const Array x = converted(c.in(0), DType::f64, c.host()), scale = converted(c.in(1), DType::f64, c.host());
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{-1}), x.rank());
  const Array squares = mean_over(c, x, ones_from(x.dims(), axis), [](double v, std::int64_t) { return v * v; });
  const double epsilon = c.attr("epsilon", 1e-5f);
  const auto normal = [&](double v, const auto& p) { return v / std::sqrt(p[0] + epsilon) * p[1]; };
  put(c, 0, map_with(c, x, normal, squares, scale), c.in(1).dtype());
}

}  // namespace

constinit const OpDef defs::RMSNormalization = {
    .name = "RMSNormalization",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
