// Convolutions over data with channels last.
#include <algorithm>

#include "ingot/backends/tensorflow/quantized.h"
#include "ingot/backends/tensorflow/rows.h"
#include "ingot/backends/tensorflow/spatial.h"
#include "ingot/base/mapped_file.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::backends::tensorflow {
namespace {

/// The weights with one spatial axis as two: O, I, 1, W.
Tensor widened(const Tensor& w) {
  if (w.rank() != 3) return w;
  return w.reshaped({w.dims()[0], w.dims()[1], 1, w.dims()[2]});
}

/// Weights with zeros between them in place of a dilation.
Tensor spread_out(const Tensor& w, const Ints& dilations) {
  Dims dims = w.dims();
  for (std::size_t i = 0; i < dilations.size(); ++i) dims[i + 2] = (dims[i + 2] - 1) * dilations[i] + 1;
  const auto width = static_cast<std::size_t>(w.size() ? static_cast<std::int64_t>(w.bytes().size()) / w.size() : 0);
  std::vector<std::byte> all(static_cast<std::size_t>(tensor_size(dims)) * width);
  for (std::int64_t i = 0; i < w.size(); ++i) {
    std::int64_t rest = i, to = 0, step = 1;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      const std::int64_t at = rest % w.dims()[axis];
      rest /= w.dims()[axis];
      to += at * (axis >= 2 ? dilations[axis - 2] : 1) * step;
      step *= dims[axis];
    }
    std::copy_n(w.bytes().data() + static_cast<std::size_t>(i) * width, width,
                all.data() + static_cast<std::size_t>(to) * width);
  }
  return Tensor(w.dtype(), dims, Bytes::own(std::move(all)));
}

/// The node's weights, constant or not, with their axes in TensorFlow's order. `dilations`: written out; `multiplier`:
/// the last two axes of the result are channels and so many filters of each.
Ref weights_as(NodeOut& n, const Ints& perm, const Ints& dilations = {}, std::int64_t multiplier = 1) {
  const auto split_last = [&](Dims dims) {
    dims[dims.size() - 2] /= multiplier;
    dims.back() = multiplier;
    return dims;
  };
  if (const Tensor* w = n.constant(1)) {
    const Tensor wide = widened(dilations.empty() ? *w : spread_out(*w, dilations));
    Tensor turned = passes::transposed(wide, perm);
    if (multiplier > 1) turned = turned.reshaped(split_last(turned.dims()));
    const Ref made = n.e.constant(turned, n.node.input(1)->name());
    drop_pages(w->bytes());
    return made;
  }
  if (const auto quantized = quantized_weights(n.node.input(1))) {
    Tensor turned = passes::transposed(widened(quantized->floats), perm);
    const Dims wanted = multiplier > 1 ? split_last(turned.dims()) : turned.dims();
    FakeGrid grid = quantized->grid;
    const auto last = static_cast<std::int64_t>(wanted.size()) - 1;
    if (grid.axis >= 0) {
      const bool moves = n.rank(1) == 3 && grid.axis == 2;  // where widened puts another axis
      grid.axis = passes::moved_axis(perm, grid.axis + (moves ? 1 : 0));
    }
    if (grid.axis == last - 1 && turned.dims().back() == 1) {  // one filter for each channel: FakeQuant has those last
      Dims dims = turned.dims();
      std::swap(dims.back(), dims[dims.size() - 2]);
      turned = turned.reshaped(dims);
      grid.axis = last;
    }
    const Ref w = fake_quantized(n.e, n.e.constant(turned, n.node.input(1)->name()), wanted.size(), grid);
    return turned.dims() == wanted ? w : reshaped(n.e, w, wanted);
  }
  Ref w = n.in(1);
  if (n.rank(1) == 3) w = n.e.add("ExpandDims", {w, n.e.index(2)});
  w = transposed(n.e, w, perm);
  if (multiplier <= 1) return w;
  Dims dims = dims_of(n.shape(1));
  if (n.rank(1) == 3) dims.insert(dims.begin() + 2, 1);
  Dims turned;
  for (const std::int64_t axis : perm) turned.push_back(dims[static_cast<std::size_t>(axis)]);
  return reshaped(n.e, w, split_last(turned));
}

bool is_one(std::int64_t i) { return i == 1; }

/// Whether zeros between the weights are needed where TensorFlow, or TF.js, lacks the dilation.
bool spreads_out(const Sliding& s, bool is_depthwise, bool is_tfjs) {
  if (std::ranges::all_of(s.dilations, is_one)) return false;
  if (s.rank() == 3) return !is_tfjs || !std::ranges::all_of(s.strides, is_one);
  return (is_tfjs || is_depthwise) && !std::ranges::all_of(s.strides, is_one);
}

Ref bias_added(NodeOut& n, Ref y) { return n.has(2) ? n.e.add("BiasAdd", {y, n.in(2)}) : y; }

}  // namespace

Refused refuse_conv(const Node& n, Dialect dialect) {
  for (const std::size_t i : {0U, 1U})
    if (Refused why = needs_rank(n, i)) return why;
  const Shape &x = *n.input(0)->type.shape, &w = *n.input(1)->type.shape;
  if (x.size() < 3 || x.size() > 5 || !n.output(0)->type.shape)
    return Refusal{Kind::dimensions, "TensorFlow convolves 1 to 3 spatial dimensions"};
  const std::int64_t group = n.attributes.int_or("group", 1);
  // Without groups, nobody asks for the numbers of channels: in the gradient of weights one is the size of the batch.
  if (!is_fixed(group == 1 ? Shape(w.begin() + 2, w.end()) : w))
    return Refusal{Kind::unknown_size, "the sizes of the weights are not known"};
  if (!takes(x.size() == 5 ? "Conv3D" : "Conv2D", n.input(0)->type.elem))
    return Refusal{Kind::element_type, "TensorFlow does not convolve this type"};
  if (group < 1 || (group > 1 && w[0].value() % group)) return Refusal{Kind::attribute_value, "the groups do not fit"};
  const Ints dilations = n.attributes.ints_or("dilations", {}), strides = n.attributes.ints_or("strides", {});
  const bool dilates = !std::ranges::all_of(dilations, is_one), steps = !std::ranges::all_of(strides, is_one);
  if (dilates && (steps || x.size() == 5 || dialect == Dialect::tfjs))
    if (Refused why = needs_constant(n, 1, "a dilated convolution's weights"); why && (steps || x.size() == 5))
      return why;
  const Shape spatial(x.begin() + 2, x.end());
  if (n.attributes.string_or("auto_pad", "NOTSET") == "SAME_LOWER" && !is_fixed(spatial) && steps)
    return Refusal{Kind::unknown_size, "SAME_LOWER over open sizes"};
  return {};
}

void emit_conv(NodeOut& n) {
  Emitter& e = n.e;
  const Shape& w = n.shape(1);
  Ints kernel;
  for (std::size_t i = 2; i < w.size(); ++i) kernel.push_back(w[i].value());
  Sliding s = sliding(n.node, kernel);
  const std::int64_t group = n.attr("group", 1), outputs = w[0].as_int().value_or(-1),
                     per_group = w[1].as_int().value_or(-1);
  if (n.attr("auto_pad", "NOTSET") == "SAME_LOWER" && std::ranges::all_of(s.strides, is_one))
    for (std::size_t i = 0; i < s.rank(); ++i) {
      const ops::Padding padding = ops::split_padding(s.extent(i) - 1, false);
      s.before[i] = padding.before;
      s.after[i] = padding.after;
    }
  const bool is_depthwise = per_group == 1 && s.rank() < 3 &&
                            (group > 1 || comes_from(n.node, "DepthwiseConv2dNative")) &&
                            std::ranges::all_of(s.strides, [&](std::int64_t i) { return i == s.strides[0]; });
  const std::size_t rank = n.rank();
  Ref x = image_of(n, n.in(0), rank);
  AttrArgs attrs;
  const bool is_same = is_said_same(n, s) && !s.is_valid();
  if (is_same) {
    attrs.emplace_back("padding", "SAME");
  } else if (s.is_valid()) {
    attrs.emplace_back("padding", "VALID");
  } else if (s.rank() == 3 || std::ranges::min(s.before) < 0 || std::ranges::min(s.after) < 0) {
    x = padded(n, x, s.before, s.after, std::nullopt);
    attrs.emplace_back("padding", "VALID");
  } else {
    Ints around;
    const Ints low = with_ends(s.before, 0), high = with_ends(s.after, 0);
    for (std::size_t i = 0; i < low.size(); ++i) around.insert(around.end(), {low[i], high[i]});
    attrs.emplace_back("padding", "EXPLICIT");
    attrs.emplace_back("explicit_paddings", around);
  }
  const bool spreads = spreads_out(s, is_depthwise, e.is_tfjs()) && n.constant(1);
  Ints strides = s.strides;
  if (strides.size() == 1 && is_depthwise) strides = {strides[0], strides[0]};  // both must be the same
  attrs.emplace_back("strides", with_ends(strides));
  attrs.emplace_back("dilations", with_ends(spreads ? Ints(s.rank(), 1) : s.dilations));
  attrs.emplace_back("data_format", s.rank() == 3 ? "NDHWC" : "NHWC");
  const Ints dilations = spreads ? s.dilations : Ints{};
  Ref y;
  if (is_depthwise) {
    // O, 1, H, W with O = channel * multiplier + m -> H, W, channel, m
    const Ref weights = weights_as(n, {2, 3, 0, 1}, dilations, outputs / group);
    y = e.add("DepthwiseConv2dNative", {x, weights}, attrs);
  } else {
    const char* word = s.rank() == 3 ? "Conv3D" : "Conv2D";
    const Ref weights = weights_as(n, s.rank() == 3 ? Ints{2, 3, 4, 1, 0} : Ints{2, 3, 1, 0}, dilations);
    if (group == 1) {
      y = e.add(word, {x, weights}, attrs);
    } else {
      // Group by group: not all of TensorFlow's kernels have groups, and TF.js has none.
      const auto last = static_cast<std::int64_t>(std::max<std::size_t>(rank, 4)) - 1;
      const Ref xs = e.add("Split", {e.index(last), x}, {{"num_split", group}});
      const Ref ws = e.add("Split", {e.index(last), weights}, {{"num_split", group}});
      Refs ys;
      for (std::int32_t i = 0; i < group; ++i) ys.push_back(e.add(word, {Ref{xs.node, i}, Ref{ws.node, i}}, attrs));
      ys.push_back(e.index(last));
      y = e.add("ConcatV2", ys);
    }
  }
  n.set(from_image(n, bias_added(n, y), rank));
}

namespace {

/// One axis of a transposed convolution: all that the inputs reach, and what of that is wanted.
struct TransposedAxis {
  std::int64_t stride = 1, extent = 1;
  std::int64_t before = 0, after = 0;  // dropped; less than nothing: zeros that no input reaches
  bool is_same = false;                // TensorFlow's SAME drops the right elements by itself
};

std::vector<TransposedAxis> transposed_axes(const NodeOut& n) {
  const Shape &w = n.shape(1), &xs = n.shape(0), &ys = n.out_shape();
  const std::size_t rank = w.size() - 2;
  const Ints strides = n.node.attributes.ints_or("strides", Ints(rank, 1));
  const Ints dilations = n.node.attributes.ints_or("dilations", Ints(rank, 1));
  const Ints pads = n.node.attributes.ints_or("pads", Ints(2 * rank, 0));
  const Ints extra = n.node.attributes.ints_or("output_padding", Ints(rank, 0));
  const std::string auto_pad = n.attr("auto_pad", "NOTSET");
  const bool divides = auto_pad.starts_with("SAME") || n.node.attributes.has("output_shape");
  std::vector<TransposedAxis> axes(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    TransposedAxis& a = axes[i];
    a.stride = strides[i];
    a.extent = (w[i + 2].value() - 1) * dilations[i] + 1;
    if (divides) {
      const std::int64_t full = (xs[i + 1].value() - 1) * a.stride + a.extent, wanted = ys[i + 1].value();
      a.before = ops::split_padding(full + extra[i] - wanted, auto_pad == "SAME_UPPER").before;
      a.after = full - a.before - wanted;
    } else if (auto_pad == "VALID") {
      a.after = -extra[i];
    } else {
      a.before = pads[i];
      a.after = pads[i + rank] - extra[i];
    }
    const std::int64_t total = a.before + a.after;  // SAME makes in * stride of them
    a.is_same = total == a.extent - a.stride && total >= 0 && a.before == total / 2;
  }
  return axes;
}

/// The sizes that are asked of the operator: N, spatial..., C.
Ref asked_sizes(NodeOut& n, const std::vector<TransposedAxis>& axes, bool is_same, std::int64_t channels) {
  Emitter& e = n.e;
  const Shape& x = n.shape();
  const auto size = [&](std::int64_t in, const TransposedAxis& a) {
    return is_same ? in * a.stride : (in - 1) * a.stride + a.extent;
  };
  if (is_fixed(x)) {
    Ints dims{x[0].value()};
    if (axes.size() == 1) dims.push_back(1);
    for (std::size_t i = 0; i < axes.size(); ++i) dims.push_back(size(x[i + 1].value(), axes[i]));
    dims.push_back(channels);
    return e.ints(dims);
  }
  const Ref all = shape_of(e, n.in(0));
  Refs parts{part_of_list(e, all, 0, 1)};
  if (axes.size() == 1) parts.push_back(e.ints({1}));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const TransposedAxis& a = axes[i];
    const Dim& in = x[i + 1];
    if (in.is_known()) {
      parts.push_back(e.ints({size(in.value(), a)}));
      continue;
    }
    Ref made = e.add("Mul", {part_of_list(e, all, static_cast<std::int64_t>(i) + 1, 1), e.index(a.stride)});
    if (!is_same) made = e.add("AddV2", {made, e.index(a.extent - a.stride)});
    parts.push_back(made);
  }
  parts.push_back(e.ints({channels}));
  parts.push_back(e.index(0));
  return e.add("ConcatV2", parts);
}

/// Of all that the inputs reach, what is wanted.
Ref trimmed(NodeOut& n, Ref y, const std::vector<TransposedAxis>& axes) {
  Ints begin, end, missing;
  for (const TransposedAxis& a : axes) {
    begin.push_back(a.before);
    end.push_back(std::min<std::int64_t>(-a.after, 0));
    missing.push_back(std::max<std::int64_t>(-a.after, 0));
  }
  const Ints low = with_ends(begin, 0), high = with_ends(end, 0);
  const auto is_zero = [](std::int64_t i) { return i == 0; };
  if (!std::ranges::all_of(low, is_zero) || !std::ranges::all_of(high, is_zero)) {
    std::int64_t open = 0;
    for (std::size_t i = 0; i < high.size(); ++i)
      if (high[i] == 0) open |= std::int64_t{1} << i;
    y = n.e.add("StridedSlice", {y, n.e.ints(low), n.e.ints(high), n.e.ints(Ints(low.size(), 1))},
                {{"end_mask", open}});
  }
  if (std::ranges::all_of(missing, is_zero)) return y;
  return padded(n, y, Ints(missing.size(), 0), missing, std::nullopt);
}

}  // namespace

Refused refuse_conv_transpose(const Node& n, Dialect dialect) {
  for (const std::size_t i : {0U, 1U})
    if (Refused why = needs_rank(n, i)) return why;
  const Shape& x = *n.input(0)->type.shape;
  if (x.size() < 3 || x.size() > (dialect == Dialect::tfjs ? 4U : 5U))
    return Refusal{Kind::dimensions, "so many spatial dimensions of a transposed convolution"};
  if (!takes(x.size() == 5 ? "Conv3D" : "Conv2D", n.input(0)->type.elem))
    return Refusal{Kind::element_type, "TensorFlow does not convolve this type"};
  if (!std::ranges::all_of(n.attributes.ints_or("dilations", {}), is_one))
    if (Refused why = needs_constant(n, 1, "a dilated convolution's weights")) return why;
  if (!is_fixed(*n.input(1)->type.shape)) return Refusal{Kind::unknown_size, "the sizes of the weights are not known"};
  const auto& y = n.output(0)->type.shape;
  if (!y) return Refusal{Kind::unknown_size, "the rank is not known"};
  const bool divides =
      n.attributes.string_or("auto_pad", "NOTSET").starts_with("SAME") || n.attributes.has("output_shape");
  for (std::size_t i = 2; i < x.size() && divides; ++i)
    if (!x[i].is_known() || !(*y)[i].is_known()) return Refusal{Kind::unknown_size, "the spatial sizes are not known"};
  return {};
}

void emit_conv_transpose(NodeOut& n) {
  Emitter& e = n.e;
  const Shape& w = n.shape(1);
  const std::vector<TransposedAxis> axes = transposed_axes(n);
  const bool is_same = std::ranges::all_of(axes, &TransposedAxis::is_same);
  const std::int64_t group = n.attr("group", 1), channels = w[1].value();
  const std::size_t rank = n.rank();
  const Ref x = image_of(n, n.in(0), rank), sizes = asked_sizes(n, axes, is_same, channels);
  Ints strides;
  for (const TransposedAxis& a : axes) strides.push_back(a.stride);
  const bool is_3d = rank == 5;
  const AttrArgs attrs{{"strides", with_ends(strides)},
                       {"padding", is_same ? "SAME" : "VALID"},
                       {"dilations", with_ends(Ints(axes.size(), 1))},
                       {"data_format", is_3d ? "NDHWC" : "NHWC"}};
  Ints dilations = n.node.attributes.ints_or("dilations", {});
  if (std::ranges::all_of(dilations, is_one)) dilations.clear();
  const Ref weights = weights_as(n, is_3d ? Ints{2, 3, 4, 1, 0} : Ints{2, 3, 1, 0}, dilations);
  const char* word = is_3d ? "Conv3DBackpropInputV2" : "Conv2DBackpropInput";
  Ref y;
  if (group == 1) {
    y = e.add(word, {sizes, weights, x}, attrs);
  } else {
    const auto last = static_cast<std::int64_t>(std::max<std::size_t>(rank, 4)) - 1;
    const Ref xs = e.add("Split", {e.index(last), x}, {{"num_split", group}});
    const Ref ws = e.add("Split", {e.index(last), weights}, {{"num_split", group}});
    Refs ys;
    for (std::int32_t i = 0; i < group; ++i)
      ys.push_back(e.add(word, {sizes, Ref{ws.node, i}, Ref{xs.node, i}}, attrs));
    ys.push_back(e.index(last));
    y = e.add("ConcatV2", ys);
  }
  if (!is_same) y = trimmed(n, y, axes);
  n.set(from_image(n, bias_added(n, y), rank));
}

}  // namespace ingot::backends::tensorflow
