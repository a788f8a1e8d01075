// Convolutions and pools as layers.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/channels_last.h"
#include "ingot/backends/keras/layer_out.h"
#include "ingot/base/error.h"
#include "ingot/ir/transpose.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::keras {
namespace {

using passes::legalize::Refusal;

bool is_one(std::int64_t i) { return i == 1; }

std::size_t spatial_axes(const Node& node) {
  const auto& shape = node.input(0)->type.shape;
  return shape && shape->size() > 2 ? shape->size() - 2 : 0;
}

/// Zeros around the data where the padding has no name; the name of what is left.
const char* padded(LayerOut& n, const Sliding& s, std::string& input, bool takes_zeros = false) {
  if (s.is_valid()) return "valid";
  const bool is_named = n.node.attributes.string_or("auto_pad", "NOTSET") != "NOTSET";
  if (s.is_same(n.shape()) && (!takes_zeros || is_named)) return "same";
  input = n.before("ZeroPadding2D",
                   fmt::format(R"("padding":[[{},{}],[{},{}]],"data_format":"channels_last")", s.before[0], s.after[0],
                               s.before[1], s.after[1]),
                   input);
  return "valid";
}

/// Whether the padding, of a graph whose channels come first, can be said: by name, or in two dimensions by zeros.
Refused refuse_padding(const Node& node, std::size_t axes) {
  const Ints pads = node.attributes.ints_or("pads", {});
  const bool has_pads = std::ranges::any_of(pads, [](std::int64_t p) { return p != 0; });
  if (std::ranges::any_of(pads, [](std::int64_t p) { return p < 0; }))
    return Refusal{Kind::attribute_value, "padding that takes away"};
  if (has_pads && axes != 2) return Refusal{Kind::attribute_value, "explicit padding of other than two axes"};
  if (node.attributes.string_or("auto_pad", "NOTSET") == "SAME_LOWER")
    return Refusal{Kind::attribute_value, "SAME_LOWER"};
  return {};
}

std::string settings(const Sliding& s, const char* padding) {
  return fmt::format(R"("strides":{},"padding":"{}","data_format":"channels_last")", list_of(s.strides), padding);
}

/// Whether explicit padding is what Keras calls 'same', for sizes that are known and channels that come first.
bool is_same_padding(const Node& node, std::size_t axes) {
  const Shape &x = *node.input(0)->type.shape, &y = *node.output(0)->type.shape;
  const Ints pads = node.attributes.ints_or("pads", {}), kernel = node.attributes.ints_or("kernel_shape", {});
  const Ints strides = node.attributes.ints_or("strides", Ints(axes, 1));
  if (pads.size() != 2 * axes || kernel.size() != axes || strides.size() != axes) return false;
  for (std::size_t i = 0; i < axes; ++i) {
    if (!x[i + 2].is_known() || !y[i + 2].is_known()) return false;
    const std::int64_t in = x[i + 2].value(), out = y[i + 2].value();
    const std::int64_t total = std::max<std::int64_t>((out - 1) * strides[i] + kernel[i] - in, 0);
    if (out != (in + strides[i] - 1) / strides[i] || pads[i] != total / 2 || pads[i] + pads[i + axes] != total)
      return false;
  }
  return true;
}

}  // namespace

Refused refuse_conv(const Node& node) {
  const std::size_t axes = spatial_axes(node);
  if (axes < 1 || axes > 3) return Refusal{Kind::dimensions, "layers convolve 1 to 3 spatial dimensions"};
  const Tensor* w = ops::constant_of(node.input(1));
  if (!w || w->dtype() != DType::f32) return Refusal{Kind::not_constant, "a layer's weights are constant floats"};
  if (node.input(2) && !ops::constant_of(node.input(2)))
    return Refusal{Kind::not_constant, "a layer's bias is constant"};
  const std::int64_t group = node.attributes.int_or("group", 1);
  if (group != 1 && (axes != 2 || w->dims()[1] != 1))
    return Refusal{Kind::attribute_value, "groups of several channels are no layer of TF.js"};
  const bool steps = !std::ranges::all_of(node.attributes.ints_or("strides", {}), is_one);
  const bool dilates = !std::ranges::all_of(node.attributes.ints_or("dilations", {}), is_one);
  if (steps && dilates) return Refusal{Kind::attribute_value, "strides and dilations at once"};
  return refuse_padding(node, axes);
}

void emit_conv(LayerOut& n) {
  const Tensor& w = *n.constant(1);
  Ints kernel(w.dims().begin() + 2, w.dims().end());
  const Sliding s = sliding(n.node, kernel);
  std::string input = n.in();
  const char* padding = padded(n, s, input);
  const std::int64_t group = n.node.attributes.int_or("group", 1);
  const bool has_bias = n.constant(2) != nullptr;
  std::string config = fmt::format(R"("kernel_size":{},{},"dilation_rate":{},"activation":"linear","use_bias":{})",
                                   list_of(kernel), settings(s, padding), list_of(s.dilations), has_bias);
  std::vector<std::pair<std::string, Tensor>> weights;
  const std::int64_t filters = w.dims()[0];
  if (group > 1) {
    // O, 1, H, W with O = channel * multiplier + m -> H, W, channel, m
    const std::int64_t multiplier = filters / group;
    Tensor turned = ingot::transposed(w, {2, 3, 0, 1}).reshaped({kernel[0], kernel[1], group, multiplier});
    config += fmt::format(R"(,"depth_multiplier":{})", multiplier);
    weights.emplace_back("depthwise_kernel", std::move(turned));
  } else {
    Ints perm;
    for (std::size_t i = 0; i < kernel.size(); ++i) perm.push_back(static_cast<std::int64_t>(i) + 2);
    perm.insert(perm.end(), {1, 0});
    config += fmt::format(R"(,"filters":{})", filters);
    weights.emplace_back("kernel", ingot::transposed(w, perm));
  }
  if (has_bias) weights.emplace_back("bias", *n.constant(2));
  n.set(group > 1 ? "DepthwiseConv2D" : fmt::format("Conv{}D", kernel.size()), config, weights, {input});
}

namespace {

/// What the layer without padding gives too much of, per axis: before and behind. Less than nothing: zeros are missing.
struct Surplus {
  Ints before, behind;
  bool is_same = false;  // the layer's own 'same' takes just that away
  bool is_none = false;
};

Surplus surplus_of(const Node& node, const Ints& kernel) {
  const std::size_t axes = kernel.size();
  const Ints strides = node.attributes.ints_or("strides", Ints(axes, 1));
  const Ints pads = node.attributes.ints_or("pads", Ints(2 * axes, 0));
  const Ints extra = node.attributes.ints_or("output_padding", Ints(axes, 0));
  Surplus s;
  s.is_same = s.is_none = true;
  for (std::size_t i = 0; i < axes; ++i) {
    s.before.push_back(pads[i]);
    s.behind.push_back(pads[i + axes] - extra[i] + std::max<std::int64_t>(strides[i] - kernel[i], 0));
    const std::int64_t total = std::max<std::int64_t>(kernel[i] - strides[i], 0);
    s.is_same &= s.before[i] == total / 2 && s.before[i] + s.behind[i] == total;
    s.is_none &= s.before[i] == 0 && s.behind[i] == 0;
  }
  return s;
}

}  // namespace

Refused refuse_conv_transpose(const Node& node) {
  const std::size_t axes = spatial_axes(node);
  if (axes < 2 || axes > 3) return Refusal{Kind::dimensions, "layers of TF.js do so over 2 or 3 spatial dimensions"};
  const Tensor* w = ops::constant_of(node.input(1));
  if (!w || w->dtype() != DType::f32 || (node.input(2) && !ops::constant_of(node.input(2))))
    return Refusal{Kind::not_constant, "a layer's weights are constant floats"};
  if (node.attributes.int_or("group", 1) != 1 || !std::ranges::all_of(node.attributes.ints_or("dilations", {}), is_one))
    return Refusal{Kind::attribute_value, "groups and dilations are no layer of TF.js"};
  const std::string pad = node.attributes.string_or("auto_pad", "NOTSET");
  if (node.attributes.has("output_shape") || pad.starts_with("SAME"))
    return Refusal{Kind::attribute_value, "padding that follows from the output's sizes"};
  const Surplus s = surplus_of(node, Ints(w->dims().begin() + 2, w->dims().end()));
  const auto is_less = [](std::int64_t i) { return i < 0; };
  if (axes == 3 && !s.is_same && !s.is_none) return Refusal{Kind::attribute_value, "explicit padding of three axes"};
  if (std::ranges::any_of(s.before, is_less) || (std::ranges::any_of(s.behind, is_less) && node.input(2)))
    return Refusal{Kind::attribute_value, "zeros behind what the inputs reach"};
  return {};
}

void emit_conv_transpose(LayerOut& n) {
  const Tensor& w = *n.constant(1);
  const Ints kernel(w.dims().begin() + 2, w.dims().end());
  const Surplus s = surplus_of(n.node, kernel);
  Ints perm;
  for (std::size_t i = 0; i < kernel.size(); ++i) perm.push_back(static_cast<std::int64_t>(i) + 2);
  perm.insert(perm.end(), {1, 0});
  std::vector<std::pair<std::string, Tensor>> weights{{"kernel", ingot::transposed(w, perm)}};
  if (n.constant(2)) weights.emplace_back("bias", *n.constant(2));
  const std::string config = fmt::format(
      R"("filters":{},"kernel_size":{},"strides":{},"padding":"{}","data_format":"channels_last","activation":"linear","use_bias":{})",
      w.dims()[1], list_of(kernel), list_of(n.node.attributes.ints_or("strides", Ints(kernel.size(), 1))),
      s.is_same && !s.is_none ? "same" : "valid", n.constant(2) != nullptr);
  const std::string kind = fmt::format("Conv{}DTranspose", kernel.size());
  if (s.is_same || s.is_none) return n.set(kind, config, weights);
  const std::string all = n.model.add(kind, config, {n.in()}, n.node.output(0)->name() + "_before", weights);
  const bool crops = std::ranges::none_of(s.behind, [](std::int64_t i) { return i < 0; });
  if (crops)
    return n.set("Cropping2D",
                 fmt::format(R"("cropping":[[{},{}],[{},{}]],"data_format":"channels_last")", s.before[0], s.behind[0],
                             s.before[1], s.behind[1]),
                 {}, {all});
  const std::string cropped =
      n.before("Cropping2D",
               fmt::format(R"("cropping":[[{},{}],[{},{}]],"data_format":"channels_last")", s.before[0],
                           std::max<std::int64_t>(s.behind[0], 0), s.before[1], std::max<std::int64_t>(s.behind[1], 0)),
               all);
  n.set("ZeroPadding2D",
        fmt::format(R"("padding":[[0,{}],[0,{}]],"data_format":"channels_last")",
                    std::max<std::int64_t>(-s.behind[0], 0), std::max<std::int64_t>(-s.behind[1], 0)),
        {}, {cropped});
}

namespace {

/// How many times the two spatial axes of an image are repeated; channels come first or last. Nothing: not evenly.
std::optional<Ints> repeats_of(const Node& node, bool is_last) {
  const auto &x = node.input(0)->type.shape, &y = node.output(0)->type.shape;
  if (!x || !y || x->size() != 4) return std::nullopt;
  const std::size_t first = is_last ? 1 : 2, channel = is_last ? 3 : 1;
  const Tensor* scales = node.input_count() > 2 && node.input(2) ? ops::constant_of(node.input(2)) : nullptr;
  Ints repeats;
  for (std::size_t i = first; i < first + 2; ++i) {
    double scale = 0;
    if (scales && scales->size() == 4)
      scale = scales->to_doubles()[i];
    else if ((*x)[i].is_known() && (*y)[i].is_known() && (*x)[i].value() > 0)
      scale = static_cast<double>((*y)[i].value()) / static_cast<double>((*x)[i].value());
    if (scale < 1 || scale != static_cast<double>(static_cast<std::int64_t>(scale))) return std::nullopt;
    repeats.push_back(static_cast<std::int64_t>(scale));
  }
  if (!same((*x)[0], (*y)[0]) || !same((*x)[channel], (*y)[channel])) return std::nullopt;
  return repeats;
}

}  // namespace

Refused refuse_resize(const Node& node) {
  for (const std::size_t i : {2u, 3u})  // what a run tells cannot change places with the axes either
    if (node.input(i) && !ops::constant_of(node.input(i)))
      return Refusal{Kind::not_constant, "sizes that are computed"};
  const auto& a = node.attributes;
  const std::string from = a.string_or("coordinate_transformation_mode", "half_pixel"),
                    to = a.string_or("nearest_mode", "round_prefer_floor");
  const bool repeats =
      (from == "asymmetric" && to == "floor") || (from.starts_with("half_pixel") && to.starts_with("round_prefer"));
  if (a.string_or("mode", "nearest") != "nearest" || !repeats || a.has("axes") || !repeats_of(node, false))
    return Refusal{Kind::attribute_value,
                   "only rows and columns that are repeated are a layer in TF.js and Keras alike"};
  return {};
}

void emit_resize(LayerOut& n) {
  const std::optional<Ints> repeats = repeats_of(n.node, true);
  if (!repeats)  // it stayed as it was where the layout was chosen
    throw Error(Code::not_expressible, "only images whose channels come last are repeated")
        .in_node(n.node.name, n.node.op, n.node.label());
  n.set("UpSampling2D",
        fmt::format(R"("size":{},"data_format":"channels_last","interpolation":"nearest")", list_of(*repeats)));
}

Refused refuse_pool(const Node& node) {
  const std::size_t axes = spatial_axes(node);
  if (axes < 1 || axes > 3) return Refusal{Kind::dimensions, "layers pool 1 to 3 spatial dimensions"};
  if (node.output(1)) return Refusal{Kind::structure, "the places of the maxima are asked for"};
  if (node.attributes.int_or("ceil_mode", 0)) return Refusal{Kind::attribute_value, "ceil_mode"};
  if (!std::ranges::all_of(node.attributes.ints_or("dilations", {}), is_one))
    return Refusal{Kind::attribute_value, "a dilated pool"};
  // Zeros around are neither below all maxima nor left out of means.
  const Ints pads = node.attributes.ints_or("pads", {});
  if (std::ranges::any_of(pads, [](std::int64_t p) { return p != 0; }) &&
      !(node.is("AveragePool") && node.attributes.int_or("count_include_pad", 0))) {
    if (is_same_padding(node, axes)) return {};
    return Refusal{Kind::attribute_value, "explicit padding of a pool"};
  }
  return refuse_padding(node, axes);
}

void emit_pool(LayerOut& n) {
  const Ints kernel = n.node.attributes.ints_or("kernel_shape", {});
  const Sliding s = sliding(n.node, kernel);
  std::string input = n.in();
  const char* padding = padded(n, s, input, n.node.attributes.int_or("count_include_pad", 0) != 0);
  n.set(fmt::format("{}Pooling{}D", n.node.op == "MaxPool" ? "Max" : "Average", kernel.size()),
        fmt::format(R"("pool_size":{},{})", list_of(kernel), settings(s, padding)), {}, {input});
}

}  // namespace ingot::backends::keras
