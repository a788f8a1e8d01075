#pragma once
#include "ingot/ops/compute.h"

namespace ingot::ops {

/// For each position along an axis of a result, the position in the source it comes from; -1: none.
using IndexMap = std::span<const std::int64_t>;

/// y[i, j, ..] = x[maps[0][i], maps[1][j], ..], and the only element of `fill` where a map has none. There is a map
/// for each axis, as long as y is there.
void gather_by_maps(KernelContext& c, const Array& x, const std::vector<IndexMap>& maps, const Array& fill, Array& y);

}  // namespace ingot::ops
