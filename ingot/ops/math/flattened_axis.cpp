// The step of Softmax, LogSoftmax and Hardmax between "matrix split at axis" and "along axis".
#include "ingot/ops/math/flattened_axis.h"

#include <numeric>

namespace ingot::ops {

void up_from_flattened_axis(StepContext& c) {
  const std::int64_t axis = c.node.attributes.int_or("axis", 1);
  const auto rank = c.rank(0);
  if (axis == -1 || (rank && axis == *rank - 1)) {
    c.node.attributes.set({"axis", -1});
    return;
  }
  Value* x = c.node.input(0);
  Value* matrix = c.g.op("Flatten", {x}, {{"axis", axis}});
  Value* y = c.g.op(Name(*find(c.node)), {matrix}, {{"axis", -1}});
  c.replace({c.g.op("Reshape", {y, c.g.shape(x)})});
}

void down_to_flattened_axis(StepContext& c) {
  std::int64_t axis = c.node.attributes.int_or("axis", -1);
  if (axis == -1) {
    c.node.attributes.set({"axis", -1});
    return;
  }
  const std::int64_t rank = c.need_rank(0);
  if (axis < -rank || axis >= rank) c.cannot("axis " + std::to_string(axis) + " is out of range");
  if (axis < 0) axis += rank;
  if (axis == rank - 1) {
    c.node.attributes.set(Attribute("axis", AttrValue(axis)));
    return;
  }
  std::vector<std::int64_t> swap(static_cast<std::size_t>(rank));
  std::iota(swap.begin(), swap.end(), 0);
  std::swap(swap[static_cast<std::size_t>(axis)], swap.back());
  Value* x = c.g.transpose(c.node.input(0), swap);
  Value* y = c.g.op(Name(*find(c.node)), {x}, {{"axis", rank - 1}});
  c.replace({c.g.transpose(y, swap)});
}

}  // namespace ingot::ops
