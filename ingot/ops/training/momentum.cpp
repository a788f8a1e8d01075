// Momentum: gradient descent with a velocity, plain or in Nesterov's form.
#include "ingot/ops/catalog.h"
#include "ingot/ops/training/optimizers.h"

namespace ingot::ops {
namespace {

constexpr std::size_t kGroups = 3;  // weight, gradient, velocity

void infer(InferContext& c) {
  if (const auto mode = c.need_string("mode"); mode && *mode != "standard" && *mode != "nesterov")
    c.fail("attribute 'mode' is '" + *mode + "'");
  infer_optimizer(c, kGroups);
}

Values update(DecomposeContext& c, const Update& u) {
  GraphBuilder& g = c.g;
  Value* alpha = number(c, u, c.attr("alpha", 0.0f));
  Value* gradient = regularized(c, u);
  // The first step takes the gradient whole.
  Value* beta =
      g.where(g.op("Greater", {u.count, number(c, u, 0)}), number(c, u, c.attr("beta", 0.0f)), number(c, u, 1));
  Value* velocity = g.add(g.mul(alpha, u.states[0]), g.mul(beta, gradient));
  Value* direction = c.attr("mode", "standard") == "nesterov" ? g.add(gradient, g.mul(alpha, velocity)) : velocity;
  return {g.sub(u.weight, g.mul(u.rate, direction)), velocity};
}

Values decompose(DecomposeContext& c) { return decompose_optimizer(c, kGroups, update); }

}  // namespace

constinit const OpDef defs::Momentum = {
    .name = "Momentum",
    .domain = "ai.onnx.preview.training",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
