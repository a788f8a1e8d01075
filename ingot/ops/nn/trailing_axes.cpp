// What the normalisations over the last axes share.
#include "ingot/ops/nn/trailing_axes.h"

#include <numeric>

namespace ingot::ops {

Value* trailing_axes(DecomposeContext& c, std::int64_t axis) {
  constexpr std::int64_t kMostAxes = 64;
  const auto rank = c.rank(0);
  if (axis >= 0 && rank) axis -= *rank;
  if (axis < 0 && axis >= -kMostAxes) {
    std::vector<std::int64_t> axes(static_cast<std::size_t>(-axis));
    std::iota(axes.begin(), axes.end(), axis);
    return c.g.ints(axes);
  }
  Value* last = c.g.op("Size", {c.g.shape(c.in(0))});
  Value* first = axis < 0 ? c.g.add(last, c.g.index(axis)) : c.g.index(axis);
  return c.g.op("Range", {first, last, c.g.index(1)});
}

std::optional<DType> stash_type(const Attributes& attributes) {
  const std::int64_t type = attributes.int_or("stash_type", 1);
  for (const DType allowed : {DType::f32, DType::bf16, DType::f16, DType::f64})
    if (type == static_cast<std::int64_t>(allowed)) return allowed;
  return std::nullopt;
}

}  // namespace ingot::ops
