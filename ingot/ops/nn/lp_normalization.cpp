// LpNormalization: divides by the L1 or L2 norm along one axis.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
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

Values gradient_lp_normalization(GradContext& c) {
  GraphBuilder& g = c.g;
  const bool is_l1 = c.attr("p", std::int64_t{2}) == 1;
  Value* axes = g.ints({c.attr("axis", std::int64_t{-1})});
  Value* norm = is_l1 ? g.op("ReduceL1", {c.x(), axes}) : g.op("ReduceL2", {c.x(), axes});
  Value* is_zero = c.equal(norm, c.number(0));
  Value* along = g.op("ReduceSum", {g.mul(c.dy(), c.y()), axes});
  Value* direction = is_l1 ? g.op("Sign", {c.x()}) : c.y();
  Value* across = g.sub(c.dy(), g.mul(direction, along));
  Value* dx = g.div(across, norm);
  return {g.where(is_zero, c.number(0), dx)};
}

}  // namespace

constinit const OpDef defs::LpNormalization = {
    .name = "LpNormalization",
    .infer = infer,
    .decompose = bfloat16_in_float,
    .gradient = gradient_lp_normalization,
};

}  // namespace ingot::ops
