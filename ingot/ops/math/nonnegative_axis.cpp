// Axes counted from the front, as operator sets before 11 have them.
#include "ingot/ops/math/nonnegative_axis.h"

#include <algorithm>

namespace ingot::ops {

void down_to_nonnegative_axis(StepContext& c) {
  const auto* axis = c.node.attributes.get<std::int64_t>("axis");
  if (!axis || *axis >= 0) return;
  c.node.attributes.set(Attribute("axis", AttrValue(*axis + c.need_rank(0))));
}

void down_to_nonnegative_axes(StepContext& c) {
  const auto* given = c.node.attributes.get<std::vector<std::int64_t>>("axes");
  if (!given || std::ranges::all_of(*given, [](std::int64_t a) { return a >= 0; })) return;
  std::vector<std::int64_t> axes = *given;
  for (std::int64_t& a : axes)
    if (a < 0) a += c.need_rank(0);
  c.node.attributes.set(Attribute("axes", AttrValue(std::move(axes))));
}

}  // namespace ingot::ops
