// Adagrad: steps scaled by the root of the sum of all squared gradients so far.
#include "ingot/ops/catalog.h"
#include "ingot/ops/training/optimizers.h"

namespace ingot::ops {
namespace {

constexpr std::size_t kGroups = 3;  // weight, gradient, sum of squares

void infer(InferContext& c) { infer_optimizer(c, kGroups); }

Values update(DecomposeContext& c, const Update& u) {
  GraphBuilder& g = c.g;
  // rate / (1 + count * decay)
  Value* decay = g.add(g.mul(u.count, number(c, u, c.attr("decay_factor", 0.0f))), number(c, u, 1));
  Value* rate = g.div(u.rate, decay);
  Value* gradient = regularized(c, u);
  Value* squares = g.add(u.states[0], g.mul(gradient, gradient));
  Value* scale = g.add(g.op("Sqrt", {squares}), number(c, u, c.attr("epsilon", 1e-6f)));
  return {g.sub(u.weight, g.div(g.mul(rate, gradient), scale)), squares};
}

Values decompose(DecomposeContext& c) { return decompose_optimizer(c, kGroups, update); }

}  // namespace

constinit const OpDef defs::Adagrad = {
    .name = "Adagrad",
    .domain = "ai.onnx.preview.training",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
