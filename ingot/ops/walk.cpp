// Loops over arrays of several axes: broadcasting and joined axes.
#include "ingot/ops/walk.h"

#include <algorithm>

namespace ingot::ops {

Dims strides_of(const Dims& dims) {
  Dims strides(dims.size());
  // Beside a dimension of 0 the others may have any product.
  std::uint64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(dims[i]);
  }
  return strides;
}

Dims broadcast_dims(const KernelContext& c, std::initializer_list<const Dims*> shapes) {
  std::size_t rank = 0;
  for (const Dims* shape : shapes) rank = std::max(rank, shape->size());
  Dims out(rank, 1);
  for (const Dims* shape : shapes) {
    const std::size_t lead = rank - shape->size();
    for (std::size_t i = 0; i < shape->size(); ++i) {
      const std::int64_t d = (*shape)[i];
      if (d == 1 || d == out[lead + i]) continue;
      if (out[lead + i] != 1)
        c.fail("dimensions " + std::to_string(out[lead + i]) + " and " + std::to_string(d) +
               " of the inputs do not broadcast");
      out[lead + i] = d;
    }
  }
  return out;
}

Walk broadcast(const Dims& out, std::initializer_list<const Dims*> operands) {
  Walk walk{out, {}};
  for (const Dims* operand : operands) {
    const Dims dense = strides_of(*operand);
    Dims strides(out.size(), 0);
    const std::size_t lead = out.size() - operand->size();
    for (std::size_t i = 0; i < operand->size(); ++i)
      if ((*operand)[i] != 1) strides[lead + i] = dense[i];
    walk.strides.push_back(std::move(strides));
  }
  join_axes(walk);
  return walk;
}

void join_axes(Walk& walk) {
  if (std::ranges::find(walk.dims, 0) != walk.dims.end()) {
    walk = {{0}, std::vector<Dims>(walk.strides.size(), Dims{1})};
    return;
  }
  Walk joined{{}, std::vector<Dims>(walk.strides.size())};
  for (std::size_t i = 0; i < walk.dims.size(); ++i) {
    const std::int64_t d = walk.dims[i];
    if (d == 1) continue;
    bool joins = !joined.dims.empty();
    for (std::size_t k = 0; joins && k < walk.strides.size(); ++k)
      joins = joined.strides[k].back() == walk.strides[k][i] * d;
    if (joins) {
      joined.dims.back() *= d;
      for (std::size_t k = 0; k < walk.strides.size(); ++k) joined.strides[k].back() = walk.strides[k][i];
    } else {
      joined.dims.push_back(d);
      for (std::size_t k = 0; k < walk.strides.size(); ++k) joined.strides[k].push_back(walk.strides[k][i]);
    }
  }
  if (joined.dims.empty()) {
    joined.dims.push_back(1);
    for (Dims& strides : joined.strides) strides.push_back(1);
  }
  walk = std::move(joined);
}

void gather_walk(const Walk& walk, const Array& x, std::int64_t offset, Array& y, const Budget& budget) {
  dispatch_cell(x.dtype(), [&]<class T>() {
    const T* in = cells<T>(x) + offset;
    T* out = cells<T>(y);
    const std::int64_t step = walk.strides[0].back();
    for_each_row(walk, budget, [&](const std::int64_t* at, std::int64_t n) {
      const T* from = in + at[0];
      if (step == 1) {
        out = std::copy_n(from, n, out);
        return;
      }
      for (std::int64_t i = 0; i < n; ++i) *out++ = from[i * step];
    });
  });
}

}  // namespace ingot::ops
