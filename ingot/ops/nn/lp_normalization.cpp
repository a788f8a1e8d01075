// LpNormalization: divides by the L1 or L2 norm along one axis.
#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/wider_type.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const std::int64_t p = c.attr("p", std::int64_t{2});
  c.require(p == 1 || p == 2, "attribute 'p' must be 1 or 2");
  if (const auto rank = c.rank(0)) c.axis(c.attr("axis", std::int64_t{-1}), *rank);
  c.out_shape_like(0, 0);
}

}  // namespace

constinit const OpDef defs::LpNormalization = {
    .name = "LpNormalization",
    .infer = infer,
    .decompose = bfloat16_in_float,
};

}  // namespace ingot::ops
