// The gradients of convolutions as convolutions: by the input with the transposed kernel, by the kernel with what
// arrives as kernel, strides and dilations exchanged.
#include "ingot/ops/nn/conv_gradient.h"

namespace ingot::ops {
namespace {

using Ints = std::vector<std::int64_t>;

/// The spatial sizes of x as numbers, if all are known.
std::optional<Ints> known_sizes(const Value* x) {
  if (!x->type.shape || x->type.shape->size() < 2) return std::nullopt;
  return static_dims(Shape(x->type.shape->begin() + 2, x->type.shape->end()));
}

/// The same as an operand.
Value* sizes_of(GraphBuilder& g, Value* x) {
  if (const auto sizes = known_sizes(x)) return g.ints(*sizes);
  return g.op("Shape", {x}, {{"start", 2}});
}

/// How far the dilated kernel reaches along each axis.
Value* extents(GradContext& c, const Window& window, Value* w) {
  GraphBuilder& g = c.g;
  Ints known;
  for (std::size_t i = 0; i < window.rank(); ++i)
    if (window.extent(i).is_known()) known.push_back(window.extent(i).value());
  if (known.size() == window.rank()) return g.ints(known);
  Value* one = g.ints({1});
  Value* gaps = g.sub(sizes_of(g, w), one);
  return g.add(g.mul(gaps, g.ints(window.dilations)), one);
}

/// From the beginning of the first window to the end of the last, of as many as there are along `windows`.
Value* reach_of(GradContext& c, const Window& window, Value* windows, Value* w) {
  GraphBuilder& g = c.g;
  Value *count = sizes_of(g, windows), *one = g.ints({1}), *strides = g.ints(window.strides);
  Value* last = g.mul(g.sub(count, one), strides);
  return g.add(last, extents(c, window, w));
}

/// The padding before each axis of auto_pad SAME when sizes are known late.
Value* same_begins(GradContext& c, const Window& window, Value* x, Value* y, Value* w) {
  GraphBuilder& g = c.g;
  Value* reach = reach_of(c, window, y, w);
  Value* total = g.op("Max", {g.sub(reach, sizes_of(g, x)), g.ints({0})});
  if (window.auto_pad == Window::AutoPad::same_lower) total = g.add(total, g.ints({1}));
  return g.div(total, g.ints({2}));
}

/// Adds that much before and after each spatial axis; negative amounts cut off.
Value* pad_spatial(GradContext& c, Value* x, Value* before, Value* after) {
  GraphBuilder& g = c.g;
  Value* none = g.ints({0, 0});
  return g.op("Pad", {x, g.concat({none, before, none, after}, 0)});
}

/// The axes of a tensor [batch, channels, ...] with these two exchanged.
Value* swap_batch(GraphBuilder& g, Value* x, std::size_t spatial) {
  Ints perm = {1, 0};
  for (std::size_t i = 0; i < spatial; ++i) perm.push_back(static_cast<std::int64_t>(i) + 2);
  return g.transpose(x, perm);
}

/// [N, group * each, ...] -> axes (N, group, each, ...) in another order, then reshaped to `dims` and the spatial
/// sizes.
Value* regroup(GraphBuilder& g, Value* x, std::int64_t group, std::int64_t each, Ints perm, const Ints& dims,
               std::size_t spatial) {
  Value *batch = g.op("Shape", {x}, {{"start", 0}, {"end", 1}}), *sizes = sizes_of(g, x);
  Value* parted = g.op("Reshape", {x, g.concat({batch, g.ints({group, each}), sizes}, 0)});
  for (std::size_t i = 0; i < spatial; ++i) perm.push_back(static_cast<std::int64_t>(i) + 3);
  Value* turned = g.transpose(parted, perm);
  return g.op("Reshape", {turned, g.concat({g.ints(dims), sizes}, 0)});
}

}  // namespace

ConvGeometry ConvGeometry::read(GradContext& c, Value* x, Value* y, Value* w) {
  if (!x->type.shape || !w->type.shape || x->type.shape->size() < 3)
    c.fail("the gradient needs the ranks of input and kernel");
  const Shape kernel(w->type.shape->begin() + 2, w->type.shape->end());
  ConvGeometry conv;
  conv.window = Window::read(c.node.attributes, kernel.size(), &kernel);
  conv.group = c.attr("group", std::int64_t{1});
  Ints begins;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const Dim begin = conv.window.padding(i, (*x->type.shape)[i + 2]).first;
    if (begin.is_known()) begins.push_back(begin.value());
  }
  if (begins.size() == kernel.size()) {
    conv.known_begins = begins;
    conv.begins = c.g.ints(begins);
  } else {
    conv.begins = same_begins(c, conv.window, x, y, w);
  }
  return conv;
}

Value* fitted(GradContext& c, const ConvGeometry& conv, Value* x, Value* windows, Value* w) {
  GraphBuilder& g = c.g;
  Value* wanted = reach_of(c, conv.window, windows, w);
  Value* after = g.sub(g.sub(wanted, sizes_of(g, x)), conv.begins);
  return pad_spatial(c, x, conv.begins, after);
}

Value* conv_input_gradient(GradContext& c, const ConvGeometry& conv, Value* dy, Value* w, Value* x) {
  GraphBuilder& g = c.g;
  const Window& window = conv.window;
  Attrs attrs = {{"strides", window.strides}, {"dilations", window.dilations}, {"group", conv.group}};
  const auto in = known_sizes(x), out = known_sizes(dy);
  if (in && out && conv.known_begins) {
    Ints pads = *conv.known_begins, extra;
    for (std::size_t i = 0; i < window.rank(); ++i) {
      if (!window.extent(i).is_known()) break;
      // The full reach, less what is before; what is too much goes, what is too little comes from the windows' step.
      const std::int64_t reach = ((*out)[i] - 1) * window.strides[i] + window.extent(i).value() - pads[i];
      pads.push_back(std::max<std::int64_t>(0, reach - (*in)[i]));
      extra.push_back(std::max<std::int64_t>(0, (*in)[i] - reach));
    }
    bool fits = extra.size() == window.rank();
    for (std::size_t i = 0; fits && i < extra.size(); ++i)
      fits = extra[i] < std::max(window.strides[i], window.dilations[i]);
    if (fits) {
      attrs.emplace_back("pads", pads);
      attrs.emplace_back("output_padding", extra);
      return g.op("ConvTranspose", {dy, w}, attrs);
    }
  }
  Value* full = g.op("ConvTranspose", {dy, w}, attrs);
  Value *wanted = sizes_of(g, x), *made = sizes_of(g, full);
  Value* after = g.add(g.sub(wanted, made), conv.begins);
  return pad_spatial(c, full, g.neg(conv.begins), after);
}

Value* conv_kernel_gradient(GradContext& c, const ConvGeometry& conv, Value* dy, Value* x, Value* w) {
  GraphBuilder& g = c.g;
  const Window& window = conv.window;
  const std::size_t spatial = window.rank();
  Attrs attrs = {{"strides", window.dilations}, {"dilations", window.strides}, {"group", conv.group}};
  // Padding as an attribute where the windows end exactly with the padded input, else by a node.
  const auto in = known_sizes(x), out = known_sizes(dy);
  bool is_exact = in && out && conv.known_begins;
  Ints pads = is_exact ? *conv.known_begins : Ints();
  for (std::size_t i = 0; is_exact && i < spatial; ++i) {
    is_exact = window.extent(i).is_known();
    if (!is_exact) break;
    pads.push_back(((*out)[i] - 1) * window.strides[i] + window.extent(i).value() - (*in)[i] - pads[i]);
    is_exact = pads.back() >= 0;
  }
  if (is_exact)
    attrs.emplace_back("pads", pads);
  else
    x = fitted(c, conv, x, dy, w);
  Value *images = nullptr, *kernels = nullptr;
  if (conv.group == 1) {
    images = swap_batch(g, x, spatial);
    kernels = swap_batch(g, dy, spatial);
  } else {
    const Dim channels = (*w->type.shape)[1], filters = (*w->type.shape)[0];
    if (!channels.is_known() || !filters.is_known()) c.fail("the gradient needs the sizes of a grouped kernel");
    const std::int64_t per_group = filters.value() / conv.group;
    images = regroup(g, x, conv.group, channels.value(), {2, 1, 0}, {channels.value(), -1}, spatial);
    kernels = regroup(g, dy, conv.group, per_group, {1, 2, 0}, {filters.value(), -1}, spatial);
  }
  return swap_batch(g, g.op("Conv", {images, kernels}, attrs), spatial);
}

}  // namespace ingot::ops
