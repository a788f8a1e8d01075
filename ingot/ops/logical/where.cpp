// Where: from one input where the condition holds, else from the other; all broadcast.
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/known_elements.h"
#include "ingot/ops/math/wider_type.h"

namespace ingot::ops {
namespace {

Dim chosen(std::span<const Dim> x) {
  if (x[0].is_known()) return x[0].value() ? x[1] : x[2];
  return same(x[1], x[2]) ? x[1] : Dim();
}

void infer(InferContext& c) {
  infer_broadcast(c);
  fold_elements(c, c.elem(1), 3, chosen);
}

Values gradient_where(GradContext& c) {
  Value* yes = c.wants(1) ? c.sum_to(c.keep(c.x(0), c.dy()), c.x(1)) : nullptr;
  Value* no = c.wants(2) ? c.sum_to(c.g.where(c.x(0), c.g.scalar(0, c.elem(2)), c.dy()), c.x(2)) : nullptr;
  return {nullptr, yes, no};
}

}  // namespace

constinit const OpDef defs::Where = {
    .name = "Where",
    .infer = infer,
    .decompose = bfloat16_in_float,
    .gradient = gradient_where,
};

}  // namespace ingot::ops
