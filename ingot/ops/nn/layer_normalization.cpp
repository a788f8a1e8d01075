// LayerNormalization: zero mean and unit variance over the last axes, then scale and bias.
#include <cmath>

#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/nn/moments.h"
#include "ingot/ops/nn/trailing_axes.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const auto stash = stash_type(c.node().attributes);
  if (!stash) c.fail("attribute 'stash_type' is no floating-point type");
  c.out_elem(1, *stash);
  c.out_elem(2, *stash);
  const Shape* x = c.shape(0);
  if (!x) return;
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{-1}), static_cast<std::int64_t>(x->size()));
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (const Shape* parameter = c.shape(i))
      if (broadcast(c, *x, *parameter).size() != x->size()) c.fail("scale and bias must fit the input's shape");
  c.out_shape(0, *x);
  Shape statistics = *x;
  for (std::size_t i = static_cast<std::size_t>(axis); i < statistics.size(); ++i) statistics[i] = 1;
  c.out_shape(1, statistics);
  c.out_shape(2, std::move(statistics));
}

Values decompose(DecomposeContext& c) {
  const auto stash = stash_type(c.node.attributes);
  if (!c.in(0) || !c.in(1) || c.elem(0) == DType::undefined || !stash) return {};
  Value* axes = trailing_axes(c, c.attr("axis", std::int64_t{-1}));
  Value* x = c.g.cast(c.in(0), *stash);
  Value* mean = c.g.op("ReduceMean", {x, axes});
  Value* deviation = c.g.sub(x, mean);
  Value* variance = c.g.op("ReduceMean", {c.g.mul(deviation, deviation), axes});
  Value* epsilon = c.g.scalar(static_cast<double>(c.attr("epsilon", 1e-5f)), *stash);
  Value* spread = c.g.op("Sqrt", {c.g.add(variance, epsilon)});
  Value* y = c.g.mul(c.g.cast(c.g.div(deviation, spread), c.elem(0)), c.in(1));
  if (c.has(2)) y = c.g.add(y, c.in(2));
  return {y, c.wants(1) ? mean : nullptr, c.wants(2) ? c.g.op("Reciprocal", {spread}) : nullptr};
}

void run(KernelContext& c) {
  const auto stash = stash_type(c.node.attributes);
  if (!stash) c.fail("attribute 'stash_type' is no floating-point type");
  const Array x = converted(c.in(0), DType::f64, c.host());
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{-1}), x.rank());
  const Moments moments = moments_over(c, x, ones_from(x.dims(), axis));
  const double epsilon = c.attr("epsilon", 1e-5f);
  const Array bias = c.has(2) ? converted(c.in(2), DType::f64, c.host()) : scratch(c, DType::f64, {});
  const Array scale = converted(c.in(1), DType::f64, c.host());
  put(c, 0, scaled(c, normalised(c, x, moments, epsilon), scale, bias), c.in(0).dtype());
  if (c.wants(1)) put(c, 1, moments.mean, *stash);
  if (!c.wants(2)) return;
  put(c, 2, map_with(c, moments.variance, [&](double v, const auto&) { return 1 / std::sqrt(v + epsilon); }), *stash);
}

}  // namespace

constinit const OpDef defs::LayerNormalization = {
    .name = "LayerNormalization",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
