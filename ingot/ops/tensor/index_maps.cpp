// Results whose every axis is an axis of the source, read in another order: padding, cropping, nearest neighbours.
#include "ingot/ops/tensor/index_maps.h"

#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {

void gather_by_maps(KernelContext& c, const Array& x, const std::vector<IndexMap>& maps, const Array& fill, Array& y) {
  if (y.size() == 0) return;
  if (maps.empty()) return copy_elements(x, 0, y, 0, 1);
  const Dims dense = strides_of(x.dims());
  const std::size_t last = maps.size() - 1;
  dispatch_cell(x.dtype(), [&]<class T>() {
    const T* in = cells<T>(x);
    const T* other = cells<T>(fill);
    T* out = cells<T>(y);
    Dims index(maps.size(), 0);
    const Walk walk{y.dims(), {}};  // only counts: each offset depends on the maps
    for_each_row(walk, c.host().budget(), [&](const std::int64_t*, std::int64_t n) {
      std::int64_t base = 0;
      bool is_inside = true;
      for (std::size_t i = 0; i < last; ++i) {
        const std::int64_t at = maps[i][static_cast<std::size_t>(index[i])];
        is_inside = is_inside && at >= 0;
        base += is_inside ? at * dense[i] : 0;
      }
      for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t at = maps[last][static_cast<std::size_t>(k)];
        *out++ = is_inside && at >= 0 ? in[base + at] : *other;
      }
      for (std::size_t i = last; i-- > 0;) {
        if (++index[i] < y.dims()[i]) break;
        index[i] = 0;
      }
    });
  });
}

}  // namespace ingot::ops
