// What the pools share.
#include "ingot/ops/nn/pool.h"

#include <algorithm>
#include <cmath>

#include "ingot/ops/nn/conv.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/nn/window.h"

namespace ingot::ops {

void rank_by_kernel(InferContext& c) {
  const auto* kernel = c.attr_ints("kernel_shape");
  if (!kernel || kernel->empty()) return;
  const auto rank = static_cast<std::int64_t>(kernel->size()) + 2;
  for (std::size_t i = 0; i < c.output_count(); ++i) c.out_rank(i, rank);
}

void infer_pool(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return rank_by_kernel(c);
  const Shape sizes = spatial(c, *x, "the input");
  if (Window::is_open(c.node().attributes)) return c.out_rank(0, static_cast<std::int64_t>(x->size()));
  const Window window = Window::read(c.node().attributes, sizes.size());
  Shape y = {(*x)[0], (*x)[1]};
  for (std::size_t i = 0; i < sizes.size(); ++i) y.push_back(window.output_size(i, sizes[i]));
  c.out_shape(1, y);
  c.out_shape(0, std::move(y));
}

void infer_global_pool(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(x->size() >= 2, "the input has no channels");
  Shape y(x->size(), Dim(1));
  y[0] = (*x)[0];
  y[1] = (*x)[1];
  c.out_shape(0, std::move(y));
}

void drop_dilations(StepContext& c) {
  const auto* dilations = c.node.attributes.get<std::vector<std::int64_t>>("dilations");
  if (dilations && std::ranges::all_of(*dilations, [](std::int64_t d) { return d == 1; }))
    c.node.attributes.erase("dilations");
}

Value* window_sums(DecomposeContext& c, Value* x, DType elem, bool padding_is_one) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0);
  if (!rank || *rank < 3) return nullptr;
  const Window window = Window::read(c.node.attributes, static_cast<std::size_t>(*rank) - 2);
  std::vector<std::int64_t> pads = window.pads;
  if (window.ceil_mode && window.auto_pad == Window::AutoPad::notset) {
    // As much at the end as the last window needs; less than the padding where no window reaches its end.
    for (std::size_t i = 0; i < window.rank(); ++i) {
      const Dim size = stated_size(c.in(0), static_cast<std::int64_t>(i) + 2);
      const Dim end = (window.output_size(i, size) - 1) * window.strides[i] + window.extent(i) - size - pads[i];
      if (!end.is_known()) return nullptr;
      pads[i + window.rank()] = std::max<std::int64_t>(0, end.value());
    }
  }
  if (padding_is_one) {
    std::vector<std::int64_t> ones(2 * static_cast<std::size_t>(*rank));  // of all axes, at the beginning and end
    for (std::size_t i = 0; i < pads.size(); ++i) {
      const std::int64_t inside = std::min(pads[i], window.pads[i]);
      ones[i + (i < window.rank() ? 2 : 4)] = inside;
      pads[i] -= inside;
    }
    x = g.op("Pad", {x, g.ints(ones), g.scalar(1, elem)});
  }
  const auto kernel = c.node.attributes.ints_or("kernel_shape", {});
  Dims dims = {1, 1};
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  constexpr std::int64_t kMostTaps = 1 << 20;
  if (tensor_size(dims) > kMostTaps) return nullptr;
  const std::vector<float> ones(static_cast<std::size_t>(tensor_size(dims)), 1.0f);
  Attrs attrs;
  for (const char* name : {"strides", "dilations"})
    if (const auto* values = c.node.attributes.get<std::vector<std::int64_t>>(name)) attrs.push_back({name, *values});
  if (window.auto_pad == Window::AutoPad::notset)
    attrs.push_back({"pads", pads});
  else
    attrs.push_back({"auto_pad", c.attr("auto_pad", "NOTSET")});
  // Channels join the batch, so that one kernel of ones serves all.
  Value *shape = g.shape(c.in(0)), *extended = padding_is_one ? g.shape(x) : shape;
  const auto part = [&](Value* sizes, std::int64_t first, std::int64_t end) {
    return g.op("Slice", {sizes, g.ints({first}), g.ints({end})});
  };
  Value* single = g.op("Reshape", {x, g.concat({g.ints({-1, 1}), part(extended, 2, *rank)}, 0)});
  Value* sums = g.op("Conv", {single, g.cast(g.constant(Tensor::of<float>(dims, ones)), elem)}, attrs);
  return g.op("Reshape", {sums, g.concat({part(shape, 0, 2), part(g.shape(sums), 2, *rank)}, 0)});
}

Dims pooled_dims(const Dims& x, const Dims& sizes) {
  Dims dims(x.begin(), x.begin() + 2);
  dims.insert(dims.end(), sizes.begin(), sizes.end());
  return dims;
}

void norm_order_to_int(StepContext& c) {
  const float* p = c.node.attributes.get<float>("p");
  if (!p) return;
  const float order = *p;
  if (!(order >= 1 && order <= 1e6f) || order != std::floor(order)) c.cannot("the norm's order must be an integer");
  c.node.attributes.set(Attribute("p", AttrValue(static_cast<std::int64_t>(order))));
}

void norm_order_to_float(StepContext& c) {
  const std::int64_t* p = c.node.attributes.get<std::int64_t>("p");
  if (p) c.node.attributes.set(Attribute("p", static_cast<double>(*p)));
}

}  // namespace ingot::ops
