#pragma once
#include "ingot/base/budget.h"
#include "ingot/ops/kernel.h"

// Kernels that work along one axis: the array is outer x size x inner, and a lane is the `size` elements along the
// axis, `inner` apart.

namespace ingot::ops {

struct Lanes {
  std::int64_t outer = 1, size = 1, inner = 1;
};

/// `axis` counts from the front. An empty array has no lanes, and none of its sizes counts.
inline Lanes lanes_along(const Array& x, std::int64_t axis) {
  const auto at = static_cast<std::size_t>(axis);
  Lanes lanes{1, x.dims()[at], 1};
  if (x.size() == 0) return {0, 0, 1};
  for (std::size_t i = 0; i < x.dims().size(); ++i)
    if (i != at) (i < at ? lanes.outer : lanes.inner) *= x.dims()[i];
  return lanes;
}

/// Calls f(offset of the first element) for each lane.
template <class F> void for_each_lane(const Lanes& lanes, const Budget& budget, F f) {
  std::int64_t until_poll = 1 << 16;
  for (std::int64_t o = 0; o < lanes.outer; ++o)
    for (std::int64_t i = 0; i < lanes.inner; ++i) {
      f(o * lanes.size * lanes.inner + i);
      until_poll -= lanes.size;
      if (until_poll > 0) continue;
      budget.poll();
      until_poll = 1 << 16;
    }
}

}  // namespace ingot::ops
