#pragma once
#include <vector>

#include "ingot/ir/array.h"

namespace ingot {
class Budget;
class ThreadPool;
}  // namespace ingot

namespace ingot::engine {

/// y[i, j, ..] = x[maps[0][i], maps[1][j], ..], and the only element of `fill` where a map has -1. There is a map of
/// int64 for each axis, as long as y is there. Not for strings.
void move_by_maps(const Array& x, const std::vector<Array>& maps, const Array& fill, Array& y, ThreadPool& pool,
                  const Budget& budget);

}  // namespace ingot::engine
