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
    Dims offsets(walk.strides.size());
    for (std::int64_t piece = begin; piece < end; ++piece) {
      const std::int64_t start = piece % cuts * kGrain;
      for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] = start * walk.strides[k].back();
      std::int64_t rest = piece / cuts;
      for (std::size_t axis = walk.dims.size() - 1; axis-- > 0; rest /= walk.dims[axis])
        for (std::size_t k = 0; k < offsets.size(); ++k)
          offsets[k] += rest % walk.dims[axis] * walk.strides[k][axis];
      f(offsets.data(), piece / cuts * row + start, std::min(kGrain, row - start));
    }
  });
}

}  // namespace ingot::engine
