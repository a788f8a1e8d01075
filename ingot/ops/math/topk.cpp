// TopK: the k largest or smallest numbers along an axis, and where they are.
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/wider_type.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  if (const Shape* s = c.shape(1)) c.require(may_equal(product(*s), 1), "k is not one number");
  const auto known = c.ints(1);
  const Dim k = known && known->size() == 1 ? known->front() : Dim();
  c.require(!k.is_known() || k.value() >= 0, "k is negative");
  const Shape* x = c.shape(0);
  if (!x) return;
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{-1}), static_cast<std::int64_t>(x->size()));
  Shape y = *x;
  Dim& size = y[static_cast<std::size_t>(axis)];
  if ((k - size).is_at_least(1)) c.fail("k is " + k.str() + ", but there are only " + size.str());
  size = k.is_unknown() ? c.data_dim(c.wants(0) ? 0 : 1, axis) : k;
  c.out_shape(0, y);
  c.out_shape(1, std::move(y));
}

// Version 1 has k as an attribute.
void up_to_input(StepContext& c) {
  if (const auto* k = c.node.attributes.get<std::int64_t>("k")) c.node.set_input(1, c.g.ints({*k}));
  c.node.attributes.erase("k");
}

void down_to_attribute(StepContext& c) {
  const auto k = c.need_ints(1, "k");
  if (k.size() != 1) c.cannot("k is not one number");
  c.node.attributes.set(Attribute("k", AttrValue(k.front())));
  c.node.resize_inputs(1);
}

constexpr Step kSteps[] = {{.since = 10, .up = up_to_input, .down = down_to_attribute}};

Values gradient_topk(GradContext& c) {
  if (!c.dy()) return {};
  Value* places = c.ensure_output(1);
  return {c.g.op("ScatterElements", {c.zeros(c.x()), places, c.dy()}, {{"axis", c.attr("axis", std::int64_t{-1})}})};
}

}  // namespace

constinit const OpDef defs::TopK = {
    .name = "TopK",
    .infer = infer,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
    .gradient = gradient_topk,
};

}  // namespace ingot::ops
