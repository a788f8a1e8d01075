// ConvTranspose: the transpose of a convolution, which spreads each input element over a window of the output.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/conv.h"
#include "ingot/ops/nn/conv_gradient.h"
#include "ingot/ops/nn/window.h"

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

/// The padding before each axis that the output's size leaves.
std::vector<std::int64_t> begins_of(GradContext& c, const Window& window) {
  const bool is_stated = c.node.attributes.has("output_shape");
  if (!is_stated && !window.is_same()) {
    if (window.auto_pad == Window::AutoPad::valid) return std::vector<std::int64_t>(window.rank());
    return {window.pads.begin(), window.pads.begin() + static_cast<std::ptrdiff_t>(window.rank())};
  }
  const auto extra = c.node.attributes.ints_or("output_padding", std::vector<std::int64_t>(window.rank()));
  std::vector<std::int64_t> begins;
  for (std::size_t i = 0; i < window.rank(); ++i) {
    const Dim in = (*c.x()->type.shape)[i + 2], out = (*c.y()->type.shape)[i + 2];
    const Dim total = (in - 1) * window.strides[i] + extra[i] + window.extent(i) - out;
    if (!total.is_known()) c.fail("the gradient needs the spatial sizes where padding follows from them");
    const std::int64_t amount = std::max<std::int64_t>(0, total.value()), half = amount / 2;
    begins.push_back(window.auto_pad == Window::AutoPad::same_upper ? half : amount - half);
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
    .decompose = bfloat16_in_float,
    .gradient = gradient_conv_transpose,
};

}  // namespace ingot::ops
