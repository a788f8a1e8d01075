// Resize: one axis after the other, in double precision.
#include "ingot/ops/tensor/resize/kernel.h"

#include <algorithm>
#include <cmath>

#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/index_maps.h"
#include "ingot/ops/tensor/resize/axis.h"
#include "ingot/ops/tensor/resize/shape.h"

namespace ingot::ops {
namespace {

std::vector<double> numbers(KernelContext& c, std::size_t i, std::size_t count) {
  const Array list = converted(c.in(i), DType::f64, c.host());
  if (list.rank() != 1 || static_cast<std::size_t>(list.size()) != count)
    c.fail("input " + std::to_string(i) + " does not have " + std::to_string(count) + " entries");
  const auto values = list.data<double>();
  return {values.begin(), values.end()};
}

void set_sizes(KernelContext& c, const std::vector<std::size_t>& axes, std::vector<ResizedAxis>& resized) {
  std::vector<std::int64_t> sizes = list_of_ints(c, 3), dims;
  if (sizes.size() != axes.size()) c.fail("there is not one size per axis");
  for (const std::size_t a : axes) dims.push_back(resized[a].from);
  const std::string policy = c.attr("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    c.fail("the policy '" + policy + "' is not known");
  for (const std::int64_t size : sizes)
    if (size < 0) c.fail("a size is " + std::to_string(size));
  std::optional<double> scale;
  if (policy != "stretch") {
    scale = common_scale(sizes, dims, policy == "not_larger");
    if (!scale) c.fail("an empty dimension has no aspect ratio");
  }
  for (std::size_t k = 0; k < axes.size(); ++k) {
    ResizedAxis& axis = resized[axes[k]];
    axis.to = scale ? rounded_size(axis.from, *scale) : sizes[k];
    if (axis.from == 0 && axis.to != 0) c.fail("an empty dimension cannot be enlarged");
    if (axis.from > 0) axis.scale = scale ? *scale : static_cast<double>(axis.to) / static_cast<double>(axis.from);
  }
}

void set_scales(KernelContext& c, const std::vector<std::size_t>& axes, std::vector<ResizedAxis>& resized) {
  const std::vector<double> scales = numbers(c, 2, axes.size());
  for (std::size_t k = 0; k < axes.size(); ++k) {
    ResizedAxis& axis = resized[axes[k]];
    const auto size = scaled_size(axis.from, scales[k]).as_int();
    if (!size) c.fail("a scale is " + std::to_string(scales[k]));
    axis.scale = scales[k];
    axis.to = *size;
  }
}

void run_nearest(KernelContext& c, const Array& x, const std::vector<ResizedAxis>& axes, const ResizeMode& mode,
                 Array& y) {
  std::vector<Array> memory;
  std::vector<IndexMap> maps;
  for (const ResizedAxis& axis : axes) {
    memory.push_back(scratch(c, DType::i64, {axis.to}));
    set_nearest(axis, mode, memory.back().mutable_data<std::int64_t>());
    maps.push_back(memory.back().data<std::int64_t>());
  }
  gather_by_maps(c, x, maps, extrapolation_value(c), y);
}

/// Every line of x along an axis as weighted sums of neighbours.
template <class T>
Array interpolated(KernelContext& c, const Array& x, std::size_t along, const ResizedAxis& axis,
                   const ResizeMode& mode) {
  Dims dims = x.dims();
  dims[along] = axis.to;
  Array y = scratch(c, x.dtype(), dims);
  const Blocks blocks = blocks_along(x.dims(), static_cast<std::int64_t>(along));
  const T* in = x.data<T>().data();
  T* out = y.mutable_data<T>().data();
  WorkMeter meter(c.host().budget());
  for (std::int64_t k = 0; k < axis.to; ++k) {
    const double place = axis.source(mode, k);
    const Taps taps = axis.is_outside(mode, place) ? Taps() : taps_around(mode, axis, place);
    for (std::int64_t block = 0; block < blocks.outer; ++block) {
      T* to = out + (block * axis.to + k) * blocks.inner;
      std::fill_n(to, blocks.inner, T(0));
      for (std::size_t t = 0; t < taps.weights.size(); ++t) {
        if (taps.weights[t] == 0) continue;
        const std::int64_t at = std::clamp<std::int64_t>(taps.first + static_cast<std::int64_t>(t), 0, axis.from - 1);
        const T* from = in + (block * axis.from + at) * blocks.inner;
        using Weight = std::conditional_t<std::is_same_v<T, std::complex<float>>, float, double>;
        const auto weight = static_cast<Weight>(taps.weights[t]);
        for (std::int64_t i = 0; i < blocks.inner; ++i) to[i] += weight * from[i];
      }
      meter.did(blocks.inner * static_cast<std::int64_t>(taps.weights.size()));
    }
  }
  return y;
}

/// What crops reach beyond the source: exactly the given value, whatever other axes made of it.
template <class T>
void extrapolate(KernelContext& c, std::size_t along, const ResizedAxis& axis, const ResizeMode& mode, Array& y) {
  const Blocks blocks = blocks_along(y.dims(), static_cast<std::int64_t>(along));
  const auto value = static_cast<T>(c.attr("extrapolation_value", 0.0f));
  for (std::int64_t k = 0; k < axis.to; ++k)
    if (axis.is_outside(mode, axis.source(mode, k)))
      for (std::int64_t block = 0; block < blocks.outer; ++block)
        std::fill_n(y.mutable_data<T>().data() + (block * axis.to + k) * blocks.inner, blocks.inner, value);
}

}  // namespace

std::vector<ResizedAxis> resized_axes(KernelContext& c, const Array& x, const ResizeMode& mode) {
  const std::vector<std::size_t> axes = axes_of_attribute(c, "axes", x.rank());
  std::vector<ResizedAxis> resized;
  for (const std::int64_t size : x.dims()) resized.push_back({.from = size, .to = size});
  const bool has_scales = is_given(c, 2), has_sizes = is_given(c, 3);
  if (has_scales && has_sizes) c.fail("both scales and sizes are given");
  if (!has_scales && !has_sizes && !axes.empty()) c.fail("neither scales nor sizes are given");
  if (has_sizes) set_sizes(c, axes, resized);
  if (has_scales) set_scales(c, axes, resized);
  if (mode.crops() && !axes.empty()) {
    if (!is_given(c, 1)) c.fail("a crop needs its region");
    const std::vector<double> roi = numbers(c, 1, 2 * axes.size());
    for (std::size_t k = 0; k < axes.size(); ++k) {
      resized[axes[k]].roi_start = roi[k];
      resized[axes[k]].roi_end = roi[k + axes.size()];
      if (!std::isfinite(roi[k]) || !std::isfinite(roi[k + axes.size()])) c.fail("the region is not finite");
    }
  }
  return resized;
}

void set_nearest(const ResizedAxis& axis, const ResizeMode& mode, std::span<std::int64_t> map) {
  for (std::size_t k = 0; k < map.size(); ++k) {
    const double place = axis.source(mode, static_cast<std::int64_t>(k));
    map[k] = axis.is_outside(mode, place) ? -1 : axis.nearest(mode, place);
  }
}

Array extrapolation_value(KernelContext& c) {
  const DType type = c.in(0).dtype();
  Array fill(type, {});
  const float value = c.attr("extrapolation_value", 0.0f);
  if (is_complex(type))
    dispatch(type, Complexes{}, [&]<class T>() { fill.mutable_data<T>()[0] = T(value); });
  else if (type != DType::string)
    fill = converted(Array::scalar(value), type, c.host());
  return fill;
}

void run_resize(KernelContext& c) {
  const Array& x = c.in(0);
  const ResizeMode mode(c);
  const std::vector<ResizedAxis> axes = resized_axes(c, x, mode);
  Dims dims;
  for (const ResizedAxis& axis : axes) dims.push_back(axis.to);
  if (tensor_size(dims) == 0 || mode.filter == ResizeMode::Filter::nearest) {
    Array& y = c.make(0, x.dtype(), dims);
    if (y.size() > 0) run_nearest(c, x, axes, mode, y);
    return;
  }
  if (x.dtype() == DType::string) c.fail("between strings there is nothing");
  const DType work = is_complex(x.dtype()) ? x.dtype() : DType::f64;
  dispatch(work, JoinTypes<Types<double>, Complexes>{}, [&]<class T>() {
    Array y = converted(x, work, c.host());
    for (std::size_t i = axes.size(); i-- > 0;)
      if (!axes[i].is_same()) y = interpolated<T>(c, y, i, axes[i], mode);
    for (std::size_t i = 0; mode.crops() && i < axes.size(); ++i)
      if (!axes[i].is_same()) extrapolate<T>(c, i, axes[i], mode, y);
    put(c, 0, y, x.dtype());
  });
}

}  // namespace ingot::ops
