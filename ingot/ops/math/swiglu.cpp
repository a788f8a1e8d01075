// SwiGLU: the swish of a gate times a value, both of one shape.
#include "ingot/ops/infer.h"
#include "ingot/ops/math/scalar_functions.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/walk.h"

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

void run(KernelContext& c) {
  if (c.in(0).dims() != c.in(1).dims()) c.fail("the inputs must have the same shape");
  map_binary(c, ComputeFloats{}, [alpha = c.attr("alpha", 1.0f)]<class T>(T gate, T value) {
    return gate * sigmoid(T{alpha} * gate) * value;
  });
}

}  // namespace

constinit const OpDef defs::SwiGLU = {
    .name = "SwiGLU",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
