// Convolutions, both ways, and the fused ones.
#include <limits>
#include <numeric>

#include "ingot/base/checked.h"
#include "ingot/frontends/channels_last.h"
#include "ingot/frontends/tensorflow/layout.h"

namespace ingot::frontends::tensorflow {

// Operators that are steps of fused ones.
Values mirror_pad(const TfNode& n, GraphBuilder& g);
Values resize_bilinear(const TfNode& n, GraphBuilder& g);

namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kMost = 1 << 30;  // of a size, stride or dilation: their products fit

Ints kernel_of(const TfNode& n, std::size_t i, std::int64_t spatial) {
  Ints kernel;
  for (std::int64_t axis = 0; axis < spatial; ++axis) {
    const auto size = dim_of(n.input(i), axis);
    if (!size || *size < 1) n.unsupported("the size of the filter must be known");
    if (*size > kMost) n.unsupported("the filter is too large");
    kernel.push_back(*size);
  }
  return kernel;
}

void require_positive(const TfNode& n, const Ints& values) {
  for (const std::int64_t v : values)
    if (v < 1 || v > kMost) n.unsupported("a stride or dilation is not positive, or too large");
}

Value* convolved(const TfNode& n, GraphBuilder& g, std::int64_t spatial) {
  const Layout layout(n, spatial);
  Value* x = layout.to_channels_first(g, n.input(0));
  Value* w = filter_channels_first(g, n.input(1), static_cast<std::size_t>(spatial));
  const Ints strides = layout.spatial(n.ints("strides")), dilations = layout.spatial(n.ints("dilations", {1}));
  require_positive(n, strides);
  require_positive(n, dilations);
  // The size of a filter that is computed follows from the filter itself.
  bool is_sized = true;
  for (std::int64_t axis = 0; axis < spatial; ++axis) is_sized &= dim_of(n.input(1), axis).has_value();
  Attrs attrs;
  if (is_sized) {
    const Ints kernel = kernel_of(n, 1, spatial);
    attrs = padding_attrs(n, layout, x, {{kernel, strides, dilations}});
    attrs.emplace_back("kernel_shape", kernel);
  } else if (n.text("padding", "VALID") == "SAME") {
    attrs.emplace_back("auto_pad", "SAME_UPPER");
  } else if (n.text("padding", "VALID") != "VALID") {
    n.unsupported("explicit padding needs the size of the filter");
  }
  attrs.emplace_back("strides", strides);
  attrs.emplace_back("dilations", dilations);
  const auto channels = dim_of(x, 1), read = dim_of(n.input(1), spatial);
  if (channels && read && *read > 0 && *channels != *read && *channels % *read == 0)
    attrs.emplace_back("group", *channels / *read);
  return layout.from_channels_first(g, g.op("Conv", {x, w}, attrs));
}

/// [h, w, c, m] -> [c * m, 1, h, w]
Value* depthwise_filter(const TfNode& n, GraphBuilder& g) {
  const Ints kernel = kernel_of(n, 1, 2);
  const auto channels = dim_of(n.input(1), 2), times = dim_of(n.input(1), 3);
  if (!channels || !times) n.unsupported("the size of the filter must be known");
  const auto out = checked_mul(*channels, *times);
  if (!out) n.unsupported("the filter is too large");
  Value* turned = g.transpose(n.input(1), {2, 3, 0, 1});
  return g.reshape(turned, {*out, 1, kernel[0], kernel[1]});
}

Value* depthwise(const TfNode& n, GraphBuilder& g) {
  const Layout layout(n, 2);
  Value* x = layout.to_channels_first(g, n.input(0));
  Value* w = depthwise_filter(n, g);
  const Ints kernel = kernel_of(n, 1, 2);
  const Ints strides = layout.spatial(n.ints("strides")), dilations = layout.spatial(n.ints("dilations", {1}));
  require_positive(n, strides);
  require_positive(n, dilations);
  Attrs attrs = padding_attrs(n, layout, x, {{kernel, strides, dilations}});
  attrs.emplace_back("kernel_shape", kernel);
  attrs.emplace_back("strides", strides);
  attrs.emplace_back("dilations", dilations);
  attrs.emplace_back("group", *dim_of(n.input(1), 2));
  return layout.from_channels_first(g, g.op("Conv", {x, w}, attrs));
}

/// The gradient of a convolution by its input, which is a convolution that enlarges. The result has the size asked for:
/// what the plain operator makes is cut or filled up with zeros, which is what the gradient has there.
Values transposed(const TfNode& n, GraphBuilder& g, std::int64_t spatial, bool is_depthwise = false) {
  const Layout layout(n, spatial);
  Value* dy = layout.to_channels_first(g, n.input(2));
  Value* w =
      is_depthwise ? depthwise_filter(n, g) : filter_channels_first(g, n.input(1), static_cast<std::size_t>(spatial));
  const Ints strides = layout.spatial(n.ints("strides")), dilations = layout.spatial(n.ints("dilations", {1}));
  require_positive(n, strides);
  require_positive(n, dilations);
  const std::string padding = n.text("padding", "VALID");
  const Ints stated = padding == "EXPLICIT" ? explicit_pads(n, layout, static_cast<std::size_t>(spatial)) : Ints{};
  Attrs attrs{{"strides", strides}, {"dilations", dilations}};
  if (is_depthwise) attrs.emplace_back("group", *dim_of(n.input(1), 2));
  const auto sizes = n.known_ints(0);
  Ints kernel, before, after, extra;
  bool is_static = sizes.has_value();
  for (std::int64_t i = 0; i < spatial; ++i)
    if (const auto size = dim_of(n.input(1), i); size && *size > 0) kernel.push_back(*size);
  is_static &= static_cast<std::int64_t>(kernel.size()) == spatial;
  for (std::size_t i = 0; is_static && i < kernel.size(); ++i) {
    const auto out = dim_of(dy, static_cast<std::int64_t>(i) + 2);
    is_static = out.has_value();
    if (!out) break;
    const std::size_t at =
        sizes->size() == kernel.size() ? i : static_cast<std::size_t>(layout.first_spatial_axis()) + i;
    if (at >= sizes->size()) n.unsupported("the sizes do not fit the rank");
    const std::int64_t size = (*sizes)[at];
    if (*out > kMost || kernel[i] > kMost || size < 0 || size > kMost) n.unsupported("a size is too large");
    const std::int64_t full = (*out - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1;
    ops::Padding pad = padding == "SAME" ? ops::split_padding(full - size) : ops::Padding{};
    if (!stated.empty()) pad = {stated[i], stated[kernel.size() + i]};
    before.push_back(pad.before);
    after.push_back(pad.after);
    extra.push_back(size - (full - pad.before - pad.after));
    is_static = extra.back() >= 0 && extra.back() < std::max(strides[i], dilations[i]);
  }
  if (static_cast<std::int64_t>(kernel.size()) == spatial) attrs.emplace_back("kernel_shape", kernel);
  if (is_static) {
    before.insert(before.end(), after.begin(), after.end());
    attrs.emplace_back("pads", before);
    attrs.emplace_back("output_padding", extra);
    return {layout.from_channels_first(g, g.op("ConvTranspose", {dy, w}, attrs))};
  }
  Value* full = g.op("ConvTranspose", {dy, w}, attrs);
  Ints pads(static_cast<std::size_t>(2 * (spatial + 2)), 0), axes;
  for (std::int64_t i = 0; i < spatial; ++i) {
    pads[static_cast<std::size_t>(spatial + 4 + i)] = strides[static_cast<std::size_t>(i)] - 1;
    axes.push_back(i + 2);
  }
  Value* wide = g.op("Pad", {full, g.ints(pads)});
  Value* asked = as_int64_vector(g, n.input(0));
  const std::int64_t first = layout.first_spatial_axis();
  if (dim_of(n.input(0), 0) != spatial) asked = g.op("Slice", {asked, g.ints({first}), g.ints({first + spatial})});
  Value* start = g.ints(Ints(static_cast<std::size_t>(spatial), 0));
  if (padding == "SAME") {
    Value* made = g.op("Slice", {g.shape(full), g.ints({2}), g.ints({spatial + 2})});
    Value* over = g.op("Max", {g.sub(made, asked), start});
    start = g.div(over, g.ints({2}));
  } else if (!stated.empty()) {
    start = g.ints(Ints(stated.begin(), stated.begin() + spatial));
  }
  Value* y = g.op("Slice", {wide, start, g.add(start, asked), g.ints(axes)});
  return {layout.from_channels_first(g, y)};
}

/// The tail of a fused operator: bias and activation.
Value* finished(const TfNode& n, GraphBuilder& g, Value* y, std::int64_t channel_axis, std::int64_t rank) {
  const std::vector<std::string> steps = n.texts("fused_ops");
  std::size_t next = 2;
  for (const std::string& step : steps) {
    if (step == "BiasAdd") {
      Value* bias = n.input(next++);
      if (channel_axis != rank - 1 && channel_axis >= 0) {
        Ints axes(static_cast<std::size_t>(rank - 1 - channel_axis));
        std::iota(axes.begin(), axes.end(), 1);
        bias = g.unsqueeze(bias, axes);
      }
      y = g.add(y, bias);
    } else if (step == "Relu") {
      y = g.op("Relu", {y});
    } else if (step == "Relu6") {
      Value* low = g.scalar(0, y->type.elem);
      y = g.op("Clip", {y, low, g.scalar(6, y->type.elem)});
    } else if (step == "Elu") {
      y = g.op("Elu", {y});
    } else if (step == "Sigmoid") {
      y = g.op("Sigmoid", {y});
    } else if (step == "Tanh") {
      y = g.op("Tanh", {y});
    } else if (step == "LeakyRelu") {
      y = g.op("LeakyRelu", {y}, {{"alpha", n.real("leakyrelu_alpha", 0.2)}});
    } else if (step == "Prelu") {
      y = g.op("PRelu", {y, n.input(next++)});
    } else {
      n.unsupported("fused operator " + step);
    }
  }
  return y;
}

}  // namespace

Values conv2d(const TfNode& n, GraphBuilder& g) { return {convolved(n, g, 2)}; }
Values conv3d(const TfNode& n, GraphBuilder& g) { return {convolved(n, g, 3)}; }
Values depthwise_conv2d(const TfNode& n, GraphBuilder& g) { return {depthwise(n, g)}; }
Values conv2d_backprop_input(const TfNode& n, GraphBuilder& g) { return transposed(n, g, 2); }
Values depthwise_backprop_input(const TfNode& n, GraphBuilder& g) { return transposed(n, g, 2, true); }
Values conv3d_backprop_input(const TfNode& n, GraphBuilder& g) { return transposed(n, g, 3); }
Values fused_conv2d(const TfNode& n, GraphBuilder& g) {
  Value* y = convolved(n, g, 2);
  return {finished(n, g, y, Layout(n, 2).channel_axis(), 4)};
}
Values fused_depthwise_conv2d(const TfNode& n, GraphBuilder& g) {
  Value* y = depthwise(n, g);
  return {finished(n, g, y, Layout(n, 2).channel_axis(), 4)};
}
namespace {

/// One step of an operator that is several, as a node of its own.
TfNode step_of(const TfNode& n, const tf::NodeDef& def, const Values& inputs) {
  Operands operands;
  for (Value* value : inputs) operands.push_back({value});
  return TfNode(def, std::move(operands), n.translation(), n.scope());
}

Values padded_conv2d(const TfNode& n, GraphBuilder& g, Value* x, std::size_t first) {
  tf::NodeDef def = n.def();
  def.op = "MirrorPad";
  Value* wide = mirror_pad(step_of(n, def, {x, n.input(first)}), g).front();
  def.op = "Conv2D";
  return conv2d(step_of(n, def, {wide, n.input(first + 1)}), g);
}

}  // namespace

Values fused_pad_conv2d(const TfNode& n, GraphBuilder& g) { return padded_conv2d(n, g, n.input(0), 1); }
Values fused_resize_and_pad_conv2d(const TfNode& n, GraphBuilder& g) {
  tf::NodeDef def = n.def();
  def.op = "ResizeBilinear";
  def.attrs.push_back({"align_corners", n.flag("resize_align_corners", false)});
  def.attrs.push_back({"half_pixel_centers", false});
  Value* sized = resize_bilinear(step_of(n, def, {n.input(0), n.input(1)}), g).front();
  return padded_conv2d(n, g, sized, 2);
}
Values fused_matmul(const TfNode& n, GraphBuilder& g) {
  const auto turned = [&](std::size_t i, bool turn) { return turn ? g.transpose(n.input(i), {1, 0}) : n.input(i); };
  Value* a = turned(0, n.flag("transpose_a", false));
  Value* b = turned(1, n.flag("transpose_b", false));
  Value* y = g.op("MatMul", {a, b});
  return {finished(n, g, y, 1, 2)};
}
Values prelu(const TfNode& n, GraphBuilder& g) { return {g.op("PRelu", {n.input(0), n.input(1)})}; }

Values dilation2d(const TfNode& n, GraphBuilder& g) {
  // Grey-scale dilation: max over the window of x + filter, one shifted slice per position of the filter.
  const Ints kernel = kernel_of(n, 1, 2);
  const Ints all_strides = n.ints("strides"), all_rates = n.ints("rates");
  if (all_strides.size() != 4 || all_rates.size() != 4) n.unsupported("strides and rates have four entries");
  const ops::StaticWindow window{kernel, {all_strides[1], all_strides[2]}, {all_rates[1], all_rates[2]}};
  const Ints &strides = window.strides, &rates = window.dilations;
  require_positive(n, strides);
  require_positive(n, rates);
  if (kernel[0] * kernel[1] > 400) n.unsupported("the filter is too large");
  const Layout layout(n, 2);
  Value* x = n.input(0);
  Ints out, pads(8, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto size = dim_of(x, static_cast<std::int64_t>(i) + 1);
    if (!size || *size > kMost) n.unsupported("the size of the image must be known");
    const bool is_same = n.text("padding", "VALID") == "SAME";
    const ops::Padding pad = is_same ? window.same(i, *size) : ops::Padding{};
    out.push_back(is_same ? (*size + strides[i] - 1) / strides[i] : (*size - window.extent(i)) / strides[i] + 1);
    pads[1 + i] = pad.before;
    pads[5 + i] = pad.after;
  }
  Value* wide = g.op("Pad", {x, g.ints(pads), g.scalar(std::numeric_limits<float>::lowest(), n.elem(0))});
  Value* best = nullptr;
  for (std::int64_t i = 0; i < kernel[0]; ++i) {
    for (std::int64_t j = 0; j < kernel[1]; ++j) {
      const Ints from{i * rates[0], j * rates[1]};
      const Ints to{from[0] + (out[0] - 1) * strides[0] + 1, from[1] + (out[1] - 1) * strides[1] + 1};
      Value* start = g.ints(from);
      Value* end = g.ints(to);
      Value* axes = g.ints({1, 2});
      Value* part = g.op("Slice", {wide, start, end, axes, g.ints(strides)});
      Value* weight = g.op("GatherND", {n.input(1), g.ints({i, j})});
      Value* sum = g.add(part, weight);
      best = best ? g.op("Max", {best, sum}) : sum;
    }
  }
  return {best};
}

}  // namespace ingot::frontends::tensorflow
