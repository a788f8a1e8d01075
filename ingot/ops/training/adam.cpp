// Adam: steps by running means of the gradients and of their squares.
#include "ingot/ops/catalog.h"
#include "ingot/ops/training/optimizers.h"

namespace ingot::ops {
namespace {

constexpr std::size_t kGroups = 4;  // weight, gradient, mean, mean of squares

void infer(InferContext& c) { infer_optimizer(c, kGroups); }

Values update(DecomposeContext& c, const Update& u) {
  GraphBuilder& g = c.g;
  const float alpha = c.attr("alpha", 0.9f), beta = c.attr("beta", 0.999f);
  const auto blend = [&](Value* old, Value* fresh, float keep) {
    return g.add(g.mul(old, number(c, u, keep)), g.mul(fresh, number(c, u, 1 - keep)));
  };
  Value* gradient = regularized(c, u);
  Value* mean = blend(u.states[0], gradient, alpha);
  Value* squares = blend(u.states[1], g.mul(gradient, gradient), beta);
  Value* scale = g.add(g.op("Sqrt", {squares}), number(c, u, c.attr("epsilon", 1e-6f)));
  // The running means start at 0; after count > 0 steps the rate makes up for it.
  // Before that they are not asked for: 0 / 0 would poison gradients even where it is not used.
  Value* one = number(c, u, 1);
  Value* is_later = g.op("Greater", {u.count, number(c, u, 0)});
  Value* count = g.where(is_later, u.count, one);
  const auto missing = [&](float keep) { return g.sub(one, g.op("Pow", {number(c, u, keep), count})); };
  Value* of_squares = g.op("Sqrt", {missing(beta)});
  Value* corrected = g.div(g.mul(u.rate, of_squares), missing(alpha));
  Value* rate = g.where(is_later, corrected, u.rate);
  Value* weight = g.sub(u.weight, g.div(g.mul(rate, mean), scale));
  const float shrink = c.attr("norm_coefficient_post", 0.0f);
  if (shrink != 0) weight = g.mul(weight, number(c, u, 1 - shrink));
  return {weight, mean, squares};
}

Values decompose(DecomposeContext& c) { return decompose_optimizer(c, kGroups, update); }

}  // namespace

constinit const OpDef defs::Adam = {
    .name = "Adam",
    .domain = "ai.onnx.preview.training",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
