// Sizes as operands, for what is built of simpler operators.
#include "ingot/ops/nn/sizes.h"

namespace ingot::ops {

Dim stated_size(const Value* x, std::int64_t axis) {
  if (!x || !x->type.shape) return {};
  const Shape& shape = *x->type.shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (axis < 0) axis += rank;
  return axis < 0 || axis >= rank ? Dim() : shape[static_cast<std::size_t>(axis)];
}

Value* size_along(GraphBuilder& g, Value* x, std::int64_t axis) {
  if (const auto size = stated_size(x, axis).as_int()) return g.ints({*size});
  if (axis == -1) return g.op("Shape", {x}, {{"start", -1}});
  return g.op("Shape", {x}, {{"start", axis}, {"end", axis + 1}});
}

}  // namespace ingot::ops
