// DeformConv: a convolution whose taps are moved by learnt offsets.
#include <cmath>

#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/conv.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/nn/sliding.h"
#include "ingot/ops/nn/window.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  infer_conv(c, 0, 1, 3);
  const std::int64_t groups = c.attr("offset_group", std::int64_t{1});
  c.require(groups >= 1, "attribute 'offset_group' is less than 1");
  if (!c.output_count() || !c.out_type(0).shape) return;
  Shape y = *c.out_type(0).shape;
  // Offsets [N, groups * taps * axes, ...] and mask [N, groups * taps, ...] have the spatial sizes of the output.
  Dim taps = groups;
  for (std::size_t i = 2; i < y.size(); ++i) taps = taps * c.dim(1, static_cast<std::int64_t>(i));
  for (const std::size_t k : {std::size_t{2}, std::size_t{4}}) {
    if (!c.shape(k)) continue;
    require_rank(c, k, static_cast<std::int64_t>(y.size()), k == 2 ? "the offset" : "the mask");
    const Dim axes = k == 2 ? static_cast<std::int64_t>(y.size()) - 2 : 1;
    agree(c, c.dim(k, 1), taps * axes, k == 2 ? "the offset's channels" : "the mask's channels");
    for (std::size_t i = 0; i < y.size(); ++i)
      if (i != 1) y[i] = agree(c, y[i], c.dim(k, static_cast<std::int64_t>(i)), "a size of the output");
  }
  c.out_shape(0, std::move(y));
}

/// Samples of the input at each tap's own place, then a convolution of the samples alone. Images of two axes only.
Values decompose(DecomposeContext& c) {
  if (c.elem(0) == DType::bf16) return bfloat16_in_float(c);
  GraphBuilder& g = c.g;
  Value *x = c.in(0), *w = c.in(1), *offset = c.in(2);
  if (!x || !w || !offset || c.rank(0) != 4 || c.rank(1) != 4 || c.elem(0) == DType::undefined) return {};
  const Shape kernel = {stated_size(w, 2), stated_size(w, 3)};
  const Window window = Window::read(c.node.attributes, 2, &kernel);
  const auto height = window.kernel[0].as_int(), width = window.kernel[1].as_int();
  const std::int64_t groups = c.attr("offset_group", std::int64_t{1});
  constexpr std::int64_t kMostTaps = 4096;
  if (!height || !width || *height > kMostTaps || *width > kMostTaps / *height || groups < 1) return {};
  const std::int64_t taps = *height * *width;
  // Places go through [-1, 1] and back, which float would not bring to whole elements again.
  const DType elem = DType::f64;
  x = g.cast(x, elem);
  offset = g.cast(offset, elem);

  Value *n = size_along(g, x, 0), *rows = size_along(g, offset, 2), *columns = size_along(g, offset, 3);
  Value* batch = g.mul(n, g.ints({groups}));  // each group of channels has offsets of its own
  // Where tap k of the window at each output position lies without its offset: [taps, rows, 1] or [taps, 1, columns].
  const auto places = [&](std::size_t axis, Value* count) {
    std::vector<std::int64_t> first;
    for (std::int64_t k = 0; k < taps; ++k)
      first.push_back((axis == 0 ? k / *width : k % *width) * window.dilations[axis] - window.pads[axis]);
    Value* steps = g.op("Range", {g.index(0), g.squeeze(count, {0}), g.index(1)});
    steps = g.unsqueeze(g.mul(steps, g.ints({window.strides[axis]})), {axis == 0 ? 1 : 0});
    return g.cast(g.add(g.constant(Tensor::of<std::int64_t>({taps, 1, 1}, first)), steps), elem);
  };
  Value* moved = g.op("Reshape", {offset, g.concat({batch, g.ints({taps, 2}), rows, columns}, 0)});
  // Into [-1, 1], where GridSample puts the centres of the outermost elements half an element from the ends.
  const auto coordinate = [&](std::size_t axis, Value* count) {
    Value* place = g.op("Gather", {moved, g.index(static_cast<std::int64_t>(axis))}, {{"axis", 2}});
    place = g.add(place, places(axis, count));
    Value* size = g.cast(size_along(g, x, static_cast<std::int64_t>(axis) + 2), elem);
    Value* scaled = g.div(g.add(g.add(place, place), g.scalar(1, elem)), size);
    return g.unsqueeze(g.sub(scaled, g.scalar(1, elem)), {4});
  };
  Value* grid = g.concat({coordinate(1, columns), coordinate(0, rows)}, 4);  // [batch, taps, rows, columns, 2]
  grid = g.op("Reshape", {grid, g.concat({batch, g.ints({-1}), columns, g.ints({2})}, 0)});
  Value* image = g.op("Reshape", {x, g.concat({batch, g.ints({-1}), size_along(g, x, 2), size_along(g, x, 3)}, 0)});
  Value* samples = g.op("GridSample", {image, grid}, {{"mode", "linear"}, {"padding_mode", "zeros"}});
  samples = g.cast(samples, c.elem(0));
  if (c.has(4)) {
    samples = g.op("Reshape", {samples, g.concat({batch, g.ints({-1, taps}), rows, columns}, 0)});
    samples = g.mul(samples, g.op("Reshape", {c.in(4), g.concat({batch, g.ints({1, taps}), rows, columns}, 0)}));
  }
  samples = g.op("Reshape", {samples, g.concat({n, g.ints({-1}), rows, columns}, 0)});  // [N, C * taps, ...]
  return {g.op("Conv", {samples, g.reshape(w, {0, -1, 1, 1}), c.in(3)}, {{"group", c.attr("group", std::int64_t{1})}})};
}

/// A place between the elements of a plane: the value there, linear along each axis, 0 outside.
class Sample {
 public:
  explicit Sample(const Dims& plane) : plane_(plane), strides_(strides_of(plane)), low_(plane.size()), part_(low_) {}

  /// The plane's weights at a place; none are given to elements outside.
  void move(std::span<const double> place);
  double of(const double* plane) const {
    double sum = 0;
    for (const auto& [element, weight] : corners_) sum += weight * plane[element];
    return sum;
  }

 private:
  const Dims& plane_;
  Dims strides_;
  std::vector<double> low_, part_;
  std::vector<std::pair<std::int64_t, double>> corners_;
};

void Sample::move(std::span<const double> place) {
  corners_.clear();
  for (std::size_t i = 0; i < place.size(); ++i) {
    // Not a number is nowhere either.
    if (!(place[i] > -1 && place[i] < static_cast<double>(plane_[i]))) return;
    low_[i] = std::floor(place[i]);
    part_[i] = place[i] - low_[i];
  }
  for (std::size_t corner = 0; corner < std::size_t{1} << place.size(); ++corner) {
    std::int64_t element = 0;
    double weight = 1;
    for (std::size_t i = 0; i < place.size(); ++i) {
      const bool is_high = (corner >> i & 1) != 0;
      const std::int64_t at = static_cast<std::int64_t>(low_[i]) + is_high;
      const bool is_outside = at < 0 || at >= plane_[i];
      weight *= is_outside ? 0 : is_high ? part_[i] : 1 - part_[i];
      if (!is_outside) element += at * strides_[i];
    }
    if (weight != 0) corners_.emplace_back(element, weight);
  }
}

void run(KernelContext& c) {
  const auto wide = [&](std::size_t i) { return converted(c.in(i), DType::f64, c.host()); };
  const Array x = wide(0), w = wide(1), offset = wide(2), mask = c.has(4) ? wide(4) : Array();
  const Dims kernel = spatial_dims(c, w.dims());
  const Sliding s = Sliding::over(c, x.dims(), &kernel);
  const std::int64_t group = c.attr("group", std::int64_t{1}), moves = c.attr("offset_group", std::int64_t{1});
  const std::int64_t batch = x.dims()[0], channels = x.dims()[1], filters = w.dims()[0], depth = w.dims()[1];
  const auto rank = static_cast<std::int64_t>(s.rank());
  constexpr std::int64_t kMostAxes = 16;  // each doubles the corners around a place
  if (rank > kMostAxes) c.fail("more than 16 spatial axes");
  if (group < 1 || channels % group || channels / group != depth || filters % group || moves < 1 || channels % moves)
    c.fail("the channels of input and kernel do not fit the groups");
  Dims dims = {batch, tensor_size(Dims{moves, s.tap_count, rank})};
  dims.insert(dims.end(), s.windows.begin(), s.windows.end());
  if (offset.dims() != dims) c.fail("the offset does not have the shape that the windows need");
  dims[1] = moves * s.tap_count;
  if (mask && mask.dims() != dims) c.fail("the mask does not have the shape that the windows need");
  dims[1] = filters;
  Array y = scratch(c, DType::f64, dims);
  fill_with_bias(c, y, 3);
  if (x.size() == 0 || y.size() == 0) return put(c, 0, y, c.in(0).dtype());

  Array samples = scratch(c, DType::f64, {channels / moves, s.window_count});
  const double *in = x.data<double>().data(), *shift = offset.data<double>().data(), *weights = w.data<double>().data();
  const double* amount = mask ? mask.data<double>().data() : nullptr;
  double *taken = samples.mutable_data<double>().data(), *out = y.mutable_data<double>().data();
  Sample sample(s.plane);
  std::vector<double> place(s.rank());
  Pace pace(c.host().budget());
  for (std::int64_t k = 0; k < batch * moves * s.tap_count; ++k) {
    const std::int64_t tap = k % s.tap_count, move = k / s.tap_count % moves, n = k / s.tap_count / moves;
    const std::int64_t first = move * (channels / moves);  // channel
    for (std::int64_t i = 0; i < s.window_count; ++i) {
      std::int64_t position = i, at = tap;
      for (std::size_t a = s.rank(); a-- > 0;) {
        const std::int64_t still =
            position % s.windows[a] * s.strides[a] - s.before[a] + at % s.kernel[a] * s.dilations[a];
        place[a] = static_cast<double>(still) + shift[(k * rank + static_cast<std::int64_t>(a)) * s.window_count + i];
        position /= s.windows[a];
        at /= s.kernel[a];
      }
      sample.move(place);
      const double factor = amount ? amount[k * s.window_count + i] : 1;
      for (std::int64_t ch = 0; ch < channels / moves; ++ch)
        taken[ch * s.window_count + i] = factor * sample.of(in + (n * channels + first + ch) * s.plane_size);
      pace.step(channels / moves);
    }
    for (std::int64_t ch = first; ch < first + channels / moves; ++ch) {
      const double* from = taken + (ch - first) * s.window_count;
      const std::int64_t per_group = filters / group, m0 = ch / depth * per_group;
      for (std::int64_t m = m0; m < m0 + per_group; ++m) {
        const double weight = weights[(m * depth + ch % depth) * s.tap_count + tap];
        double* to = out + (n * filters + m) * s.window_count;
        for (std::int64_t i = 0; i < s.window_count; ++i) to[i] += weight * from[i];
        pace.step(s.window_count);
      }
    }
  }
  put(c, 0, y, c.in(0).dtype());
}

}  // namespace

constinit const OpDef defs::DeformConv = {
    .name = "DeformConv",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
