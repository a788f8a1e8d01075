// InstanceNormalization: zero mean and unit variance over the spatial axes, then scale and bias per channel.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/moments.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  Dim channels = c.dim(0, 1);
  channels = require_vector(c, 1, channels, "the scale");
  channels = require_vector(c, 2, channels, "the bias");
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(x->size() >= 2, "the input has no channels");
  Shape y = *x;
  y[1] = channels;
  c.out_shape(0, std::move(y));
}

void run(KernelContext& c) {
  const Array x = converted(c.in(0), DType::f64, c.host());
  if (x.rank() < 2) c.fail("the input has no channels");
  const std::int64_t channels = x.dims()[1];
  const Array scale = channel_parameter(c, 1, channels, x.rank()), bias = channel_parameter(c, 2, channels, x.rank());
  const Array normal = normalised(c, x, moments_over(c, x, ones_from(x.dims(), 2)), c.attr("epsilon", 1e-5f));
  put(c, 0, scaled(c, normal, scale, bias), c.in(0).dtype());
}

Values gradient_instance_normalization(GradContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t rank = c.rank();
  std::vector<std::int64_t> spatial, all = {0}, column(static_cast<std::size_t>(rank), 1);
  for (std::int64_t i = 2; i < rank; ++i) {
    spatial.push_back(i);
    all.push_back(i);
  }
  column[1] = -1;
  Value* axes = g.ints(spatial);
  const auto mean_of = [&](Value* x) { return g.op("ReduceMean", {x, axes}, {{"noop_with_empty_axes", 1}}); };
  Value* deviation = g.sub(c.x(), mean_of(c.x()));
  Value* variance = mean_of(g.mul(deviation, deviation));
  Value* spread = g.op("Sqrt", {g.add(variance, c.attr("epsilon", 1e-5f))});
  Value* normal = g.div(deviation, spread);
  Value* slope = g.div(g.reshape(c.x(1), column), spread);
  Value* moved = g.sub(c.dy(), mean_of(c.dy()));
  Value* tilt = mean_of(g.mul(c.dy(), normal));
  Value* dx = g.mul(g.sub(moved, g.mul(normal, tilt)), slope);
  Value* dscale = g.reduce_sum(g.mul(c.dy(), normal), all, false);
  return {dx, dscale, g.reduce_sum(c.dy(), all, false)};
}

Values decompose(DecomposeContext& c) {
  if (Values wider = halves_in_float(c); !wider.empty()) return wider;
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0);
  if (!rank || *rank < 2 || !c.has(1) || !c.has(2)) return {};
  std::vector<std::int64_t> spatial, column(static_cast<std::size_t>(*rank) - 1, 1);
  for (std::int64_t i = 2; i < *rank; ++i) spatial.push_back(i);
  column[0] = -1;
  Value* axes = g.ints(spatial);
  const auto mean_of = [&](Value* x) { return g.op("ReduceMean", {x, axes}, {{"noop_with_empty_axes", 1}}); };
  Value* deviation = g.sub(c.in(0), mean_of(c.in(0)));
  Value* variance = mean_of(g.mul(deviation, deviation));
  Value* spread = g.op("Sqrt", {g.add(variance, c.attr("epsilon", 1e-5f))});
  Value* normal = g.div(deviation, spread);
  Value* scale = g.reshape(c.in(1), column);
  Value* bias = g.reshape(c.in(2), column);
  return {g.add(g.mul(normal, scale), bias)};
}

}  // namespace

constinit const OpDef defs::InstanceNormalization = {
    .name = "InstanceNormalization",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient_instance_normalization,
};

}  // namespace ingot::ops
