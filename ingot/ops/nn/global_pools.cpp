// GlobalAveragePool, GlobalMaxPool, GlobalLpPool: one window that covers all spatial axes.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/pool.h"

namespace ingot::ops {
namespace {

constexpr Step kLpSteps[] = {{.since = 2, .up = norm_order_to_int, .down = norm_order_to_float}};

Values gradient_average(GradContext& c) {
  return {c.stretched(c.g.div(c.dy(), c.ratio_of_sizes(c.x(), c.y())), c.x())};
}

// Of equal elements the first counts.
Values gradient_max(GradContext& c) {
  GraphBuilder& g = c.g;
  Value* rows = g.reshape(c.x(), {0, 0, -1});
  Value* place = g.op("ArgMax", {rows}, {{"axis", 2}, {"keepdims", 1}});
  Value* zeros = c.zeros(rows);
  Value* arriving = g.reshape(c.dy(), {0, 0, 1});
  return {c.shaped(g.op("ScatterElements", {zeros, place, arriving}, {{"axis", 2}}), c.x())};
}

// x |x|^(p-2) / y^(p-1); zero where all is zero.
Values gradient_lp(GradContext& c) {
  GraphBuilder& g = c.g;
  const auto p = static_cast<double>(c.attr("p", std::int64_t{2}));
  Value *sign = g.op("Sign", {c.x()}), *size = g.op("Abs", {c.x()});
  if (p == 1) return {g.mul(sign, c.dy())};
  Value* is_zero = c.equal(c.y(), c.number(0));
  Value* norm = g.where(is_zero, c.number(1), c.y());
  Value* share = g.div(size, norm);
  if (p != 2) share = g.op("Pow", {share, c.number(p - 1)});
  return {g.mul(g.mul(sign, share), c.dy())};
}

}  // namespace

constinit const OpDef defs::GlobalAveragePool = {
    .name = "GlobalAveragePool",
    .infer = infer_global_pool,
    .decompose = bfloat16_in_float,
    .gradient = gradient_average,
};
constinit const OpDef defs::GlobalLpPool = {
    .name = "GlobalLpPool",
    .infer = infer_global_pool,
    .steps = kLpSteps,
    .decompose = bfloat16_in_float,
    .gradient = gradient_lp,
};
constinit const OpDef defs::GlobalMaxPool = {
    .name = "GlobalMaxPool",
    .infer = infer_global_pool,
    .decompose = bfloat16_in_float,
    .gradient = gradient_max,
};

}  // namespace ingot::ops
