// Which elements of a reduction's input belong to which of its results.
#include "ingot/ops/reduction/fold.h"

namespace ingot::ops {

Reduction reduction_of(KernelContext& c) {
  const Array& x = c.in(0);
  const auto axes = c.has(1) ? c.in(1).to_ints() : std::vector<std::int64_t>{};
  const bool is_all = axes.empty() && c.attr("noop_with_empty_axes", std::int64_t{0}) == 0;
  const bool keeps_dims = c.attr("keepdims", std::int64_t{1}) != 0;
  std::vector<bool> is_reduced(x.dims().size(), is_all);
  for (const std::int64_t axis : axes) is_reduced[static_cast<std::size_t>(c.axis(axis, x.rank()))] = true;

  Reduction r{{}, {x.dims(), {strides_of(x.dims()), Dims(x.dims().size(), 0)}}, 1};
  Dims kept = x.dims();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!is_reduced[i] || keeps_dims) r.dims.push_back(is_reduced[i] ? 1 : kept[i]);
    if (is_reduced[i]) kept[i] = 1;
  }
  const Dims strides = strides_of(kept);
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (!is_reduced[i]) r.walk.strides[1][i] = strides[i];
  join_axes(r.walk);
  // Where there is no element at all the count matters for the means of nothing only.
  if (x.size() == 0)
    r.count = 0;
  else
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (is_reduced[i]) r.count *= x.dims()[i];
  return r;
}

}  // namespace ingot::ops
