// Results whose every axis is an axis of the source, read in another order, by runs of neighbours.
#include "ingot/engine/kernels/index_maps.h"

#include <algorithm>
#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/ops/walk.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 15;  // elements of one piece of work

/// Neighbours of the result that are neighbours in the source, or nowhere (from is -1).
struct Run {
  std::int64_t to, from, count;
};

std::vector<Run> runs_of(std::span<const std::int64_t> map) {
  std::vector<Run> runs;
  for (std::int64_t i = 0; i < std::ssize(map); ++i) {
    const std::int64_t from = map[static_cast<std::size_t>(i)];
    const bool goes_on =
        !runs.empty() &&
        (from < 0 ? runs.back().from < 0 : runs.back().from >= 0 && from == runs.back().from + runs.back().count);
    if (goes_on)
      ++runs.back().count;
    else
      runs.push_back({i, from < 0 ? -1 : from, 1});
  }
  return runs;
}

bool is_whole(std::span<const std::int64_t> map, std::int64_t size) {
  if (std::ssize(map) != size) return false;
  for (std::int64_t i = 0; i < size; ++i)
    if (map[static_cast<std::size_t>(i)] != i) return false;
  return true;
}

/// The axes down to the last one that is not read as it is; those behind it are one block.
struct Plan {
  std::vector<std::span<const std::int64_t>> maps;
  Dims strides;  // of the source, in elements
  std::int64_t inner = 1;
  std::vector<Run> runs;      // of the last axis
  bool is_scattered = false;  // its runs are so short that elements are picked one by one
};

Plan plan_of(const Array& x, const std::vector<Array>& maps) {
  Plan plan;
  plan.strides = ops::strides_of(x.dims());
  for (const Array& map : maps) plan.maps.push_back(map.data<std::int64_t>());
  while (plan.maps.size() > 1 && is_whole(plan.maps.back(), x.dims()[plan.maps.size() - 1])) {
    plan.inner *= x.dims()[plan.maps.size() - 1];
    plan.maps.pop_back();
  }
  plan.runs = runs_of(plan.maps.back());
  plan.is_scattered = plan.inner == 1 && std::ssize(plan.maps.back()) < 4 * std::ssize(plan.runs);
  return plan;
}

template <class T> void move_row(const Plan& plan, const T* from, const T& fill, T* to) {
  const std::span<const std::int64_t> map = plan.maps.back();
  if (plan.is_scattered) {
    for (std::size_t i = 0; i < map.size(); ++i) to[i] = map[i] < 0 ? fill : from[map[i]];
    return;
  }
  for (const Run& run : plan.runs)
    if (run.from < 0)
      std::fill_n(to + run.to * plan.inner, run.count * plan.inner, fill);
    else
      std::copy_n(from + run.from * plan.inner, run.count * plan.inner, to + run.to * plan.inner);
}

}  // namespace

void move_by_maps(const Array& x, const std::vector<Array>& maps, const Array& fill, Array& y, ThreadPool& pool,
                  const Budget& budget) {
  if (y.size() == 0) return;
  if (maps.empty()) {
    std::memcpy(y.bytes(), x.bytes(), y.byte_size());
    return;
  }
  const Plan plan = plan_of(x, maps);
  const std::size_t last = plan.maps.size() - 1;
  const std::int64_t row = std::ssize(plan.maps[last]) * plan.inner, rows = y.size() / row;
  ops::dispatch_cell(x.dtype(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, std::string>) {
      const T *in = ops::cells<T>(x), other = *ops::cells<T>(fill);
      T* out = ops::cells<T>(y);
      pool.parallel_for(rows, std::max<std::int64_t>(1, kGrain / row), [&](std::int64_t begin, std::int64_t end) {
        budget.poll();
        for (std::int64_t r = begin; r < end; ++r) {
          std::int64_t rest = r, from = 0;
          bool is_inside = true;
          for (std::size_t i = last; i-- > 0;) {
            const auto size = std::ssize(plan.maps[i]);
            const std::int64_t at = plan.maps[i][static_cast<std::size_t>(rest % size)];
            is_inside &= at >= 0;
            from += at * plan.strides[i];
            rest /= size;
          }
          if (is_inside)
            move_row(plan, in + from, other, out + r * row);
          else
            std::fill_n(out + r * row, row, other);
        }
      });
    }
  });
}

}  // namespace ingot::engine
