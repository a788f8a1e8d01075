// ConvTranspose: the transpose of a convolution, which spreads each input element over a window of the output.
#include <limits>

#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/conv.h"
#include "ingot/ops/nn/conv_gradient.h"
#include "ingot/ops/nn/sliding.h"
#include "ingot/ops/nn/static_window.h"
#include "ingot/ops/nn/window.h"
#include "ingot/ops/pace.h"

namespace ingot::ops {
namespace {

Dim size_along(InferContext& c, const Window& window, std::size_t i, const Dim& input) {
  if (const auto* sizes = c.attr_ints("output_shape")) {
    // The spatial part; some writers give batch and channels too.
    const std::size_t rank = window.rank();
    if (sizes->size() != rank && sizes->size() != rank + 2)
      c.fail("attribute 'output_shape' has " + std::to_string(sizes->size()) + " elements for " + std::to_string(rank) +
             " spatial axes");
    const std::int64_t size = (*sizes)[i + sizes->size() - rank];
    c.require(size >= 0, "attribute 'output_shape' is negative");
    return size;
  }
  std::int64_t extra = 0;
  if (const auto* padding = c.attr_ints("output_padding")) {
    if (padding->size() != window.rank())
      c.fail("attribute 'output_padding' has " + std::to_string(padding->size()) + " elements for " +
             std::to_string(window.rank()) + " spatial axes");
    extra = (*padding)[i];
    c.require(extra >= 0, "attribute 'output_padding' is negative");
  }
  const Dim size = window.is_same() ? input * window.strides[i] : window.transposed_size(i, input) + extra;
  if (size.is_known() && size.value() < 0) c.fail("the padding is larger than the output");
  return size;
}

void infer(InferContext& c) {
  const std::int64_t group = c.attr("group", std::int64_t{1});
  c.require(group >= 1, "attribute 'group' is less than 1");
  const Shape *input = c.shape(0), *weights = c.shape(1);
  if (weights) spatial(c, *weights, "the kernel");
  if (input) spatial(c, *input, "the input");
  const bool is_open = Window::is_open(c.node().attributes);
  if (input && !may_equal(c.dim(0, 1), c.dim(1, 0)))
    c.fail("the input has " + c.dim(0, 1).str() + " channels, the kernel " + c.dim(1, 0).str());
  if (!input && !weights) return;
  Shape y((input ? input : weights)->size());
  y[0] = c.dim(0, 0);
  y[1] = require_vector(c, 2, is_open ? Dim() : c.dim(1, 1) * group, "the bias");
  if (input && !is_open) {
    const Shape sizes = spatial(c, *input, "the input");
    const Shape kernel = weights ? spatial(c, *weights, "the kernel") : Shape(sizes.size());
    const Window window = Window::read(c.node().attributes, sizes.size(), &kernel);
    for (std::size_t i = 0; i < sizes.size(); ++i) y[i + 2] = size_along(c, window, i, sizes[i]);
  }
  c.out_shape(0, std::move(y));
}

/// The same as the window of a convolution that takes the output to the input.
Sliding opposite(KernelContext& c, const Dims& x, const Dims& w) {
  const Dims windows = spatial_dims(c, x), weights = spatial_dims(c, w);
  const std::size_t rank = windows.size();
  const Shape kernel(weights.begin(), weights.end());
  const Window window = Window::read(c.node.attributes, rank, &kernel);
  const auto sizes = c.attr_ints("output_shape"), extra = c.attr_ints("output_padding");
  if (!sizes.empty() && sizes.size() != rank && sizes.size() != rank + 2)
    c.fail("attribute 'output_shape' does not have one element per spatial axis");
  if (!extra.empty() && extra.size() != rank)
    c.fail("attribute 'output_padding' does not have one element per spatial axis");
  Dims plane, before, after;
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim more = extra.empty() ? 0 : extra[i];
    const Dim reach = (Dim(windows[i]) - 1) * window.strides[i] + window.extent(i) + more;
    Dim size = sizes.empty() ? Dim(0) : Dim(sizes[i + sizes.size() - rank]);
    Dim begin = 0;
    if (sizes.empty() && !window.is_same()) {
      size = window.transposed_size(i, windows[i]) + more;
      if (window.auto_pad == Window::AutoPad::notset) begin = window.pads[i];
    } else {
      if (sizes.empty()) size = Dim(windows[i]) * window.strides[i];
      // What the stated size leaves over is cut off; the odd element at the beginning, unless SAME_UPPER.
      const Dim total = max(0, reach - size);
      const Dim half = floor_div(total, 2);
      begin = window.auto_pad == Window::AutoPad::same_upper ? half : total - half;
    }
    if (!size.is_known() || !begin.is_known() || size.value() < 0 || more.value() < 0)
      c.fail("the size of the output is negative or overflows");
    plane.push_back(size.value());
    before.push_back(begin.value());
    after.push_back(0);
  }
  return Sliding::of(c, window, std::move(plane), windows, std::move(before), std::move(after));
}

void run(KernelContext& c) {
  const Array x = computable(c, 0), w = computable(c, 1);
  const std::int64_t group = c.attr("group", std::int64_t{1});
  const Sliding s = opposite(c, x.dims(), w.dims());
  const std::int64_t batch = x.dims()[0], channels = x.dims()[1], width = w.dims()[1];
  if (group < 1 || channels % group || w.dims()[0] != channels)
    c.fail("the channels of input and kernel do not fit " + std::to_string(group) + " groups");
  Dims dims = {batch, tensor_size(Dims{width, group})};
  dims.insert(dims.end(), s.plane.begin(), s.plane.end());
  Array y = scratch(c, DType::f64, dims);
  double* sums = y.mutable_data<double>().data();
  fill_with_bias(c, y, 2);
  if (x.size() == 0 || y.size() == 0) return put(c, 0, y, c.in(0).dtype());
  Pace pace(c.host().budget());
  dispatch(x.dtype(), ComputeFloats{}, [&]<class T>() {
    const T *in = x.data<T>().data(), *weights = w.data<T>().data();
    for (Taps taps(c, s); taps.next();) {
      for (std::int64_t plane = 0; plane < batch * channels; ++plane) {
        const std::int64_t n = plane / channels, k = plane % channels;
        const std::int64_t first = (n * group + k / (channels / group)) * width;
        const T* from = in + plane * s.window_count;
        for (std::int64_t m = 0; m < width; ++m) {
          const double weight = weights[(k * width + m) * s.tap_count + taps.index()];
          double* to = sums + (first + m) * s.plane_size;
          taps.each_row([&](std::int64_t window, std::int64_t element, std::int64_t count, std::int64_t step) {
            for (std::int64_t i = 0; i < count; ++i) to[element + i * step] += weight * from[window + i];
          });
          pace.step(s.window_count);
        }
      }
    }
  });
  put(c, 0, y, c.in(0).dtype());
}

/// The same by a convolution over the input with zeros between its elements, its kernel turned around.
Values decompose(DecomposeContext& c) {
  if (Values wider = bfloat16_in_float(c); !wider.empty()) return wider;
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0);
  const auto& out = c.node.output(0) ? c.node.output(0)->type.shape : std::nullopt;
  if (!rank || *rank < 3 || c.rank(1) != *rank || !out ||
      out->size() != c.in(0)->type.shape->size() || Window::is_open(c.node.attributes)) return {};
  const auto spatial = static_cast<std::size_t>(*rank) - 2;
  const Shape &in = *c.in(0)->type.shape, &weights = *c.in(1)->type.shape;
  for (std::size_t i = 0; i < spatial; ++i)
    if (!in[i + 2].is_known() || !(*out)[i + 2].is_known() || !weights[i + 2].is_known()) return {};
  if (!weights[0].is_known() || !weights[1].is_known()) return {};
  const std::int64_t group = c.attr("group", std::int64_t{1}), channels = weights[0].value(),
                     width = weights[1].value();
  if (group < 1 || channels % group) return {};
  const Shape kernel(weights.begin() + 2, weights.end());
  const Window window = Window::read(c.node.attributes, spatial, &kernel);
  const bool is_stated = c.node.attributes.has("output_shape");
  const auto extra = c.node.attributes.ints_or("output_padding", std::vector<std::int64_t>(spatial));
  if (extra.size() != spatial) return {};

  // Zeros after each element, and those after the last one taken away again.
  Value* x = c.in(0);
  std::vector<std::int64_t> apart, together{0, channels}, pads, begins, ends, axes, conv_pads(2 * spatial);
  std::vector<std::int64_t> before(spatial), after(spatial);
  bool spreads = false;
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t size = in[i + 2].value(), stride = window.strides[i], taps = kernel[i].value();
    const std::int64_t reach = (taps - 1) * window.dilations[i];
    spreads |= stride > 1;
    apart.push_back(static_cast<std::int64_t>(2 * i) + 3);
    together.push_back(size * stride);
    std::int64_t begin = window.auto_pad == Window::AutoPad::notset ? window.pads[i] : 0;
    if (is_stated || window.is_same()) {
      const std::int64_t total = (size - 1) * stride + reach + 1 + extra[i] - (*out)[i + 2].value();
      begin = split_padding(total, window.auto_pad == Window::AutoPad::same_upper).before;
    }
    before[i] = reach - begin;
    after[i] = (*out)[i + 2].value() + reach - ((size - 1) * stride + 1) - before[i];
    conv_pads[i] = std::max<std::int64_t>(before[i], 0);
    conv_pads[i + spatial] = std::max<std::int64_t>(after[i], 0);
    axes.push_back(static_cast<std::int64_t>(i) + 2);
    begins.push_back(std::max<std::int64_t>(-before[i], 0));
    ends.push_back((size - 1) * stride + 1 - std::max<std::int64_t>(-after[i], 0));
  }
  if (spreads) {
    for (std::size_t i = 0; i < spatial; ++i) pads.push_back(0);
    for (std::size_t i = 0; i < spatial; ++i) pads.push_back(window.strides[i] - 1);
    x = g.unsqueeze(x, apart);
    Value *amounts = g.ints(pads), *over = g.ints(apart);
    x = g.op("Pad", {x, amounts, g.scalar(0, c.elem(0)), over});
    x = g.reshape(x, together);
  }
  Value *from = g.ints(begins), *to = g.ints(ends), *over = g.ints(axes);
  x = g.op("Slice", {x, from, to, over});

  // [groups, inputs, outputs, ...] -> [groups, outputs, inputs, ...], each window from its end.
  std::vector<std::int64_t> split{group, channels / group, width}, perm{0, 2, 1},
      joined{group * width, channels / group};
  for (std::size_t i = 0; i < spatial; ++i) {
    split.push_back(kernel[i].value());
    perm.push_back(static_cast<std::int64_t>(i) + 3);
    joined.push_back(kernel[i].value());
  }
  Value* w = group == 1 ? g.transpose(c.in(1),
                                      [&] {
                                        std::vector<std::int64_t> order{1, 0};
                                        for (std::size_t i = 0; i < spatial; ++i)
                                          order.push_back(static_cast<std::int64_t>(i) + 2);
                                        return order;
                                      }())
                        : g.reshape(g.transpose(g.reshape(c.in(1), split), perm), joined);
  const std::vector<std::int64_t> back(spatial, -1), least(spatial, std::numeric_limits<std::int64_t>::min());
  Value *last = g.ints(back), *first = g.ints(least);
  w = g.op("Slice", {w, last, first, over, last});
  Values inputs{x, w};
  if (c.has(2)) inputs.push_back(c.in(2));
  return {g.op("Conv", inputs, {{"pads", conv_pads}, {"dilations", window.dilations}, {"group", group}})};
}

/// The padding before each axis that the output's size leaves.
std::vector<std::int64_t> begins_of(GradContext& c, const Window& window) {
  const bool is_stated = c.node.attributes.has("output_shape");
  if (!is_stated && !window.is_same()) {
    if (window.auto_pad == Window::AutoPad::valid) return std::vector<std::int64_t>(window.rank());
    return {window.pads.begin(), window.pads.begin() + static_cast<std::ptrdiff_t>(window.rank())};
  }
  const auto extra = c.node.attributes.ints_or("output_padding", std::vector<std::int64_t>(window.rank()));
  if (extra.size() != window.rank()) c.fail("attribute 'output_padding' does not have one element per spatial axis");
  std::vector<std::int64_t> begins;
  for (std::size_t i = 0; i < window.rank(); ++i) {
    const Dim in = (*c.x()->type.shape)[i + 2], out = (*c.y()->type.shape)[i + 2];
    const Dim total = (in - 1) * window.strides[i] + extra[i] + window.extent(i) - out;
    if (!total.is_known()) c.fail("the gradient needs the spatial sizes where padding follows from them");
    begins.push_back(split_padding(total.value(), window.auto_pad == Window::AutoPad::same_upper).before);
  }
  return begins;
}

// The other way round it is a convolution: from the output to the input, with the same kernel.
Values gradient_conv_transpose(GradContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t rank = c.rank(), kernel_rank = c.rank(1);
  if (rank != kernel_rank || !c.y()->type.shape) c.fail("the gradient needs the ranks of input and kernel");
  const Shape kernel(c.x(1)->type.shape->begin() + 2, c.x(1)->type.shape->end());
  ConvGeometry conv;
  conv.window = Window::read(c.node.attributes, kernel.size(), &kernel);
  conv.window.auto_pad = Window::AutoPad::notset;
  conv.group = c.attr("group", std::int64_t{1});
  const Window stated = Window::read(c.node.attributes, kernel.size(), &kernel);
  conv.begins = g.ints(begins_of(c, stated));
  Value* dy = fitted(c, conv, c.dy(), c.x(0), c.x(1));
  Value *dx = nullptr, *dw = nullptr, *db = nullptr;
  const Attrs attrs = {{"strides", stated.strides}, {"dilations", stated.dilations}, {"group", conv.group}};
  if (c.wants(0)) dx = g.op("Conv", {dy, c.x(1)}, attrs);
  if (c.wants(1)) {
    conv.known_begins = std::vector<std::int64_t>(kernel.size());
    conv.begins = g.ints(*conv.known_begins);
    dw = conv_kernel_gradient(c, conv, c.x(0), dy, c.x(1));
  }
  if (c.wants(2)) {
    std::vector<std::int64_t> axes = {0};
    for (std::int64_t i = 2; i < rank; ++i) axes.push_back(i);
    db = g.reduce_sum(c.dy(), axes, false);
  }
  return {dx, dw, db};
}

}  // namespace

constinit const OpDef defs::ConvTranspose = {
    .name = "ConvTranspose",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient_conv_transpose,
};

}  // namespace ingot::ops
