// The step below opset 11, where axes cannot count from the back.
#include "ingot/ops/tensor/negative_axes.h"

#include <algorithm>

namespace ingot::ops {

void count_axes_from_front(StepContext& c, std::string_view attribute, std::int64_t more) {
  Attribute* a = c.node.attributes.find(attribute);
  if (!a) return;
  if (auto* axis = std::get_if<std::int64_t>(&a->value)) {
    if (*axis < 0) *axis += c.need_rank(0) + more;
  } else if (auto* axes = std::get_if<std::vector<std::int64_t>>(&a->value)) {
    if (std::ranges::all_of(*axes, [](std::int64_t i) { return i >= 0; })) return;
    const std::int64_t rank = c.need_rank(0) + more;
    for (std::int64_t& i : *axes)
      if (i < 0) i += rank;
  }
}

}  // namespace ingot::ops
