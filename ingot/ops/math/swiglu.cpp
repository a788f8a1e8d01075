// SwiGLU: the swish of a gate times a value, both of one shape.
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  std::string why;
  if (!may_match(c.type(0), c.type(1), &why)) c.fail("the inputs must have the same type and shape: " + why);
  const Type both = refine(c.type(0), c.type(1));
  if (both.shape) c.out_shape(0, *both.shape);
}

Values decompose(DecomposeContext& c) {
  return {c.g.mul(c.g.op("Swish", {c.in(0)}, {{"alpha", c.attr("alpha", 1.0f)}}), c.in(1))};
}

}  // namespace

constinit const OpDef defs::SwiGLU = {
    .name = "SwiGLU",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
