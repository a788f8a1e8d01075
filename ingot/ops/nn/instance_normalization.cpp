// InstanceNormalization: zero mean and unit variance over the spatial axes, then scale and bias per channel.
#include "ingot/ops/catalog.h"
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

}  // namespace

constinit const OpDef defs::InstanceNormalization = {
    .name = "InstanceNormalization",
    .infer = infer,
    .decompose = bfloat16_in_float,
    .kernel = run,
};

}  // namespace ingot::ops
