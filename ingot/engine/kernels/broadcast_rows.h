#pragma once
#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/ops/walk.h"

namespace ingot::engine {

/// Calls f(offsets, first, n) for pieces of rows of a walk: n elements along the last axis from one offset per array,
/// which are elements first, first + 1, ... of the walk. Pieces are shared out among threads.
template <class F> void share_rows(const ops::Walk& walk, ThreadPool& pool, const Budget& budget, F f) {
  constexpr std::int64_t kGrain = 1 << 15;
  const std::int64_t row = walk.dims.back();
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < walk.dims.size(); ++i) rows *= walk.dims[i];
  if (rows == 0 || row == 0) return;
  const std::int64_t cuts = (row + kGrain - 1) / kGrain;
  pool.parallel_for(rows * cuts, std::max<std::int64_t>(1, kGrain / row), [&](std::int64_t begin, std::int64_t end) {
    budget.poll();
    // Divided once and counted on from there: rows may be as short as two elements.
    const std::size_t arrays = walk.strides.size(), outer = walk.dims.size() - 1;
    Dims base(arrays, 0), at(arrays), index(outer, 0);
    std::int64_t cut = begin % cuts, rest = begin / cuts, first = rest * row;
    for (std::size_t axis = outer; axis-- > 0; rest /= walk.dims[axis]) {
      index[axis] = rest % walk.dims[axis];
      for (std::size_t k = 0; k < arrays; ++k) base[k] += index[axis] * walk.strides[k][axis];
    }
    for (std::int64_t piece = begin; piece < end; ++piece) {
      const std::int64_t start = cut * kGrain;
      for (std::size_t k = 0; k < arrays; ++k) at[k] = base[k] + start * walk.strides[k].back();
      f(at.data(), first + start, std::min(kGrain, row - start));
      if (++cut < cuts) continue;
      cut = 0;
      first += row;
      for (std::size_t axis = outer; axis-- > 0;) {
        for (std::size_t k = 0; k < arrays; ++k) base[k] += walk.strides[k][axis];
        if (++index[axis] < walk.dims[axis]) break;
        for (std::size_t k = 0; k < arrays; ++k) base[k] -= walk.strides[k][axis] * walk.dims[axis];
        index[axis] = 0;
      }
    }
  });
}

}  // namespace ingot::engine
