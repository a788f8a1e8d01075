// InstanceNormalization: zero mean and unit variance over the spatial axes, then scale and bias per channel.
#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/agree.h"

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

}  // namespace

constinit const OpDef defs::InstanceNormalization = {
    .name = "InstanceNormalization",
    .infer = infer,
    .decompose = bfloat16_in_float,
};

}  // namespace ingot::ops
