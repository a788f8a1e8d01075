// DeformConv: a convolution whose taps are moved by learnt offsets.
#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/conv.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/nn/window.h"
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
  const DType elem = c.elem(0);
  if (!x || !w || !offset || c.rank(0) != 4 || c.rank(1) != 4 || elem == DType::undefined) return {};
  const Shape kernel = {stated_size(w, 2), stated_size(w, 3)};
  const Window window = Window::read(c.node.attributes, 2, &kernel);
  const auto height = window.kernel[0].as_int(), width = window.kernel[1].as_int();
  const std::int64_t groups = c.attr("offset_group", std::int64_t{1});
  constexpr std::int64_t kMostTaps = 4096;
  if (!height || !width || *height > kMostTaps || *width > kMostTaps / *height || groups < 1) return {};
  const std::int64_t taps = *height * *width;

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
  if (c.has(4)) {
    samples = g.op("Reshape", {samples, g.concat({batch, g.ints({-1, taps}), rows, columns}, 0)});
    samples = g.mul(samples, g.op("Reshape", {c.in(4), g.concat({batch, g.ints({1, taps}), rows, columns}, 0)}));
  }
  samples = g.op("Reshape", {samples, g.concat({n, g.ints({-1}), rows, columns}, 0)});  // [N, C * taps, ...]
  return {g.op("Conv", {samples, g.reshape(w, {0, -1, 1, 1}), c.in(3)}, {{"group", c.attr("group", std::int64_t{1})}})};
}

}  // namespace

constinit const OpDef defs::DeformConv = {
    .name = "DeformConv",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
