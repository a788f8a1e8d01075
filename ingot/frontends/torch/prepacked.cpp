// What PyTorch's optimiser for phones makes of convolutions and linear layers: weights packed together with their
// settings, and a range that the result is cut to.
#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {
namespace {

/// The parts that a packed object was made of.
const std::vector<Item>& packed_parts(const Call& c, std::size_t i, std::size_t at_least) {
  const Tuple* parts = nullptr;
  if (const ObjectRef* object = c.arg(i).get<ObjectRef>()) {
    const auto state = (*object)->attributes.find("__state__");
    if (state != (*object)->attributes.end()) parts = state->second.get<Tuple>();
  } else {
    parts = c.arg(i).get<Tuple>();
  }
  if (!parts || parts->items->size() < at_least) refuse("the packed weights have another form");
  return *parts->items;
}

Item clamped(const Call& c, const Item& y, const Item& low, const Item& high) {
  return low.is_none() && high.is_none() ? y : c.t.call("clamp", {y, low, high});
}

}  // namespace

Item prepacked_as_given(const Call& c) { return Item::tuple(c.args); }
/// Parts: weight, bias, stride, padding, dilation, groups, low, high
Item conv2d_clamp_run(const Call& c) {
  const std::vector<Item>& p = packed_parts(c, 1, 8);
  return clamped(c, c.t.call("conv2d", {c.arg(0), p[0], p[1], p[2], p[3], p[4], p[5]}), p[6], p[7]);
}
/// Parts: weight, bias, stride, padding, output padding, dilation, groups, low, high
Item conv2d_transpose_clamp_run(const Call& c) {
  const std::vector<Item>& p = packed_parts(c, 1, 9);
  return clamped(c, c.t.call("conv_transpose2d", {c.arg(0), p[0], p[1], p[2], p[3], p[4], p[6], p[5]}), p[7], p[8]);
}
/// Parts: weight, bias, low, high
Item linear_clamp_run(const Call& c) {
  const std::vector<Item>& p = packed_parts(c, 1, 4);
  return clamped(c, c.t.call("linear", {c.arg(0), p[0], p[1]}), p[2], p[3]);
}

}  // namespace ingot::frontends::torch
