// MeanVarianceNormalization: (x - mean) / (standard deviation + 1e-9) over some axes.
#include <cmath>

#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/nn/moments.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

std::vector<std::int64_t> axes_of(const Node& node) { return node.attributes.ints_or("axes", {0, 2, 3}); }

void infer(InferContext& c) {
  if (const auto rank = c.rank(0))
    for (const std::int64_t axis : axes_of(c.node())) c.axis(axis, *rank, "axes");
  c.out_shape_like(0, 0);
}

Values decompose(DecomposeContext& c) {
  Value* x = c.in(0);
  if (!x || c.elem(0) == DType::undefined) return {};
  Value* axes = c.g.ints(axes_of(c.node));
  Value* deviation = c.g.sub(x, c.g.op("ReduceMean", {x, axes}));
  Value* variance = c.g.op("ReduceMean", {c.g.mul(deviation, deviation), axes});
  Value* spread = c.g.add(c.g.op("Sqrt", {variance}), c.g.scalar(1e-9, c.elem(0)));
  return {c.g.div(deviation, spread)};
}

void run(KernelContext& c) {
  const Array x = converted(c.in(0), DType::f64, c.host());
  Dims dims = x.dims();
  for (const std::int64_t axis : axes_of(c.node)) dims[static_cast<std::size_t>(c.axis(axis, x.rank()))] = 1;
  const Moments moments = moments_over(c, x, dims);
  const auto normal = [](double v, const auto& m) { return (v - m[0]) / (std::sqrt(m[1]) + 1e-9); };
  put(c, 0, map_with(c, x, normal, moments.mean, moments.variance), c.in(0).dtype());
}

}  // namespace

constinit const OpDef defs::MeanVarianceNormalization = {
    .name = "MeanVarianceNormalization",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
