// What Adagrad, Adam and Momentum share.
#include "ingot/ops/training/optimizers.h"

#include "ingot/ops/nn/agree.h"

namespace ingot::ops {

void infer_optimizer(InferContext& c, std::size_t groups) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) require_rank(c, i, 0, "learning rate and step count");
  if (c.input_count() < 2 || (c.input_count() - 2) % groups)
    c.fail("the number of inputs does not fit " + std::to_string(groups) + " per weight");
  const std::size_t n = (c.input_count() - 2) / groups;
  if (c.output_count() > n * (groups - 1)) c.fail("there are more outputs than weights and states");
  for (std::size_t i = 0; i < c.output_count(); ++i) {
    // Outputs leave out the gradients, which come second among the inputs.
    const std::size_t kind = i / n, position = i % n;
    c.out_like(i, 2 + (kind == 0 ? 0 : kind + 1) * n + position);
  }
}

Values decompose_optimizer(DecomposeContext& c, std::size_t groups,
                           Values (*update)(DecomposeContext&, const Update&)) {
  const std::size_t count = c.node.input_count();
  if (count < 2 + groups || (count - 2) % groups) return {};
  const std::size_t n = (count - 2) / groups;
  for (std::size_t i = 0; i < count; ++i)
    if (!c.in(i) || (i >= 2 && c.elem(i) == DType::undefined)) return {};
  Values made(n * (groups - 1));
  for (std::size_t i = 0; i < n; ++i) {
    const DType elem = c.elem(2 + i);
    Update u{c.g.cast(c.in(0), elem), c.g.cast(c.in(1), elem), c.in(2 + i), c.in(2 + n + i), {}};
    for (std::size_t k = 2; k < groups; ++k) u.states.push_back(c.in(2 + k * n + i));
    const Values fresh = update(c, u);
    for (std::size_t k = 0; k < fresh.size(); ++k) made[k * n + i] = fresh[k];
  }
  return made;
}

Value* number(DecomposeContext& c, const Update& u, float value) {
  return c.g.scalar(static_cast<double>(value), u.weight->type.elem);
}

Value* regularized(DecomposeContext& c, const Update& u) {
  const float coefficient = c.attr("norm_coefficient", 0.0f);
  if (coefficient == 0) return u.gradient;
  return c.g.add(c.g.mul(u.weight, number(c, u, coefficient)), u.gradient);
}

}  // namespace ingot::ops
