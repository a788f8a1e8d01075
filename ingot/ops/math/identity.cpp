// Identity: what goes in comes out, of any type.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  c.out_like(0, 0);
  if (auto known = c.ints(0)) c.out_ints(0, std::move(*known));
}

Values gradient_identity(GradContext& c) { return {c.dy()}; }

}  // namespace

constinit const OpDef defs::Identity = {
    .name = "Identity",
    .infer = infer,
    .gradient = gradient_identity,
};

}  // namespace ingot::ops
