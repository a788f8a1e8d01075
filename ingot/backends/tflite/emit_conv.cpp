// Convolutions over data with channels last.
#include <algorithm>

#include "ingot/backends/tflite/quantized.h"
#include "ingot/backends/tflite/rows.h"
#include "ingot/backends/tflite/spatial.h"
#include "ingot/base/mapped_file.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;
using fmt_tflite::Padding;

/// The weights with one spatial axis as two: O, I, 1, W.
Tensor widened(const Tensor& w) {
  if (w.rank() != 3) return w;
  return w.reshaped({w.dims()[0], w.dims()[1], 1, w.dims()[2]});
}

/// The node's weights, constant or not, with their axes in TFLite's order. `is_split`: they are taken apart after that.
std::int32_t weights_as(NodeOut& n, const Ints& perm, bool is_split = false) {
  if (const Tensor* w = n.constant(1)) {
    const std::int32_t made = n.e.constant(passes::transposed(widened(*w), perm), n.node.input(1)->name());
    drop_pages(w->bytes());
    return made;
  }
  if (const auto q = quantized_constant(n.node.input(1))) {
    QuantizedConstant wide{widened(q->tensor), q->parameters};
    if (q->tensor.rank() == 3 && q->parameters.quantized_dimension == 2) wide.parameters.quantized_dimension = 3;
    const QuantizedConstant turned = permuted(wide, perm);
    return is_split ? emit_quantized(n.e, turned, n.node.input(1)->name()) : emit_weights(n, turned);
  }
  std::int32_t w = n.in(1);
  Shape shape = n.shape(1);
  if (shape.size() == 3) {
    shape.insert(shape.begin() + 2, Dim(1));
    w = reshaped(n.e, w, n.elem(1), shape);
  }
  return transposed(n.e, w, n.elem(1), shape, perm);
}

std::int32_t bias_of(NodeOut& n, const Dim& channels) {
  if (n.has(2)) return n.in(2);
  // Some runtimes want one, and it costs nothing.
  const auto count = static_cast<std::size_t>(channels.value());
  return n.e.constant(Tensor::of<float>({channels.value()}, std::vector<float>(count, 0)));
}

void set_steps(Options& options, const Sliding& s, Padding padding, bool has_dilations) {
  const std::size_t w = s.rank() - 1;
  const auto height = [&](const Ints& values) { return s.rank() == 1 ? 1 : values[s.rank() - 2]; };
  options.set("padding", padding).set("stride_w", s.strides[w]).set("stride_h", height(s.strides));
  if (has_dilations) options.set("dilation_w_factor", s.dilations[w]).set("dilation_h_factor", height(s.dilations));
}

}  // namespace

Refused refuse_conv(const Node& n) {
  for (const std::size_t i : {0U, 1U})
    if (Refused why = needs_rank(n, i)) return why;
  const Shape &x = *n.input(0)->type.shape, &w = *n.input(1)->type.shape;
  if (x.size() < 3 || x.size() > 5 || !n.output(0)->type.shape)
    return Refusal{Kind::dimensions, "TFLite convolves 1 to 3 spatial dimensions"};
  if (!is_fixed(w)) return Refusal{Kind::unknown_size, "the sizes of the weights are not known"};
  const std::int64_t group = n.attributes.int_or("group", 1);
  if (x.size() == 5 && group != 1) return Refusal{Kind::dimensions, "a grouped 3-D convolution"};
  if (group != 1 && group != w[0].value() / std::max<std::int64_t>(1, w[0].value() / group))
    return Refusal{Kind::attribute_value, "the groups do not fit"};
  if (n.attributes.string_or("auto_pad", "NOTSET") == "SAME_LOWER" && !is_fixed(x))
    return Refusal{Kind::unknown_size, "SAME_LOWER over open sizes"};
  return needs_types(n, {DType::f32});
}

void emit_conv(NodeOut& n) {
  const Shape& w = n.shape(1);
  Ints kernel;
  for (std::size_t i = 2; i < w.size(); ++i) kernel.push_back(w[i].value());
  const Sliding s = sliding(n.node, kernel);
  const std::int64_t group = n.attr("group", 1), outputs = w[0].value(), per_group = w[1].value();
  const Shape& x_shape = n.shape(0);
  Image x = image_of(n, n.in(0), x_shape);
  Padding padding = Padding::VALID;
  if (s.is_same(x_shape) && !s.is_valid())
    padding = Padding::SAME;
  else if (!s.is_valid())
    x = padded(n, x, s.before, s.after, std::nullopt);
  ImageResult y(n);
  const std::int32_t bias = bias_of(n, w[0]);
  if (x.shape.size() == 5) {
    Options options(Op::CONV_3D);
    set_steps(options, s, padding, true);
    options.set("stride_d", s.strides[0]).set("dilation_d_factor", s.dilations[0]);
    const std::int32_t weights = weights_as(n, {2, 3, 4, 1, 0});
    n.e.add(Op::CONV_3D, {x.tensor, weights, bias}, {y.tensor()}, options);
  } else if (per_group == 1 && (group > 1 || comes_from(n.node, "DEPTHWISE_CONV_2D"))) {
    Options options(Op::DEPTHWISE_CONV_2D);
    set_steps(options, s, padding, true);
    options.set("depth_multiplier", outputs / group);
    const std::int32_t weights = weights_as(n, {1, 2, 3, 0});
    n.e.add(Op::DEPTHWISE_CONV_2D, {x.tensor, weights, bias}, {y.tensor()}, options, rounds_activations(n) ? 6 : 2);
  } else if (group == 1) {
    Options options(Op::CONV_2D);
    set_steps(options, s, padding, true);
    const std::int32_t weights = weights_as(n, {0, 2, 3, 1});
    n.e.add(Op::CONV_2D, {x.tensor, weights, bias}, {y.tensor()}, options, rounds_activations(n) ? 5 : 2);
  } else {
    // Group by group: older runtimes have no grouped convolution.
    Options options(Op::CONV_2D);
    set_steps(options, s, padding, true);
    const std::int32_t weights = weights_as(n, {0, 2, 3, 1}, true);
    const auto parts = [&](std::int32_t tensor, Shape shape, std::size_t axis) {
      shape[axis] = Dim(shape[axis].value() / group);
      std::vector<std::int32_t> made;
      for (std::int64_t i = 0; i < group; ++i) made.push_back(n.e.temporary(DType::f32, shape));
      Options split(Op::SPLIT);
      split.set("num_splits", group);
      const std::int32_t dim = n.e.index(static_cast<std::int64_t>(axis));
      n.e.add(Op::SPLIT, {dim, tensor}, made, split);
      return made;
    };
    const Shape w_shape{w[0], w.size() == 3 ? Dim(1) : w[2], w.back(), w[1]};
    const std::vector<std::int32_t> xs = parts(x.tensor, x.shape, 3), ws = parts(weights, w_shape, 0),
                                    bs = parts(bias, Shape{w[0]}, 0);
    Shape part = y.shape();
    part.back() = Dim(outputs / group);
    std::vector<std::int32_t> ys;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      ys.push_back(n.e.temporary(DType::f32, part));
      n.e.add(Op::CONV_2D, {xs[i], ws[i], bs[i]}, {ys.back()}, options, 2);
    }
    Options join(Op::CONCATENATION);
    join.set("axis", 3);
    n.e.add(Op::CONCATENATION, ys, {y.tensor()}, join);
  }
  y.finish();
}

namespace {

/// Whether the lists that say how a window moves have an entry for each of its axes.
bool has_window_for(const Node& n, std::size_t axes) {
  for (const char* name : {"strides", "dilations", "output_padding"})
    if (n.attributes.has(name) && n.attributes.ints_or(name, {}).size() != axes) return false;
  if (n.attributes.has("pads") && n.attributes.ints_or("pads", {}).size() != 2 * axes) return false;
  return std::ranges::all_of(n.attributes.ints_or("strides", {}), [](std::int64_t s) { return s > 0; });
}

}  // namespace

Refused refuse_conv_transpose(const Node& n) {
  for (const std::size_t i : {0U, 1U})
    if (Refused why = needs_rank(n, i)) return why;
  const Shape& x = *n.input(0)->type.shape;
  if (x.size() < 3 || x.size() > 4)
    return Refusal{Kind::dimensions, "TFLite has transposed convolutions of 2 spatial dimensions"};
  if (!has_window_for(n, x.size() - 2) || n.input(1)->type.shape->size() != x.size())
    return Refusal{Kind::structure, "settings that do not fit the number of dimensions"};
  for (const std::int64_t d : n.attributes.ints_or("dilations", {}))
    if (d != 1) return Refusal{Kind::attribute_value, "a dilated transposed convolution"};
  if (n.attributes.int_or("group", 1) != 1) return Refusal{Kind::attribute_value, "a grouped transposed convolution"};
  if (!is_fixed(*n.input(1)->type.shape)) return Refusal{Kind::unknown_size, "the sizes of the weights are not known"};
  const auto& y = n.output(0)->type.shape;
  if (!y || y->size() != x.size()) return Refusal{Kind::unknown_size, "the rank is not known"};
  for (std::size_t i = 2; i < x.size(); ++i)
    if (!x[i].is_known() || !(*y)[i].is_known()) return Refusal{Kind::unknown_size, "the spatial sizes are not known"};
  if (!x[0].is_known()) return Refusal{Kind::unknown_size, "the batch of a transposed convolution is not known"};
  return needs_types(n, {DType::f32});
}

namespace {

/// One axis of a transposed convolution: what TFLite computes, and what of that is wanted.
struct TransposedAxis {
  std::int64_t size = 0;    // asked of TFLite
  std::int64_t before = 0;  // of that, dropped at the beginning
  std::int64_t wanted = 0;
  std::int64_t missing = 0;  // zeros at the end, which no input reaches
  bool is_same = false;      // TFLite's SAME drops the right elements by itself
};

/// TFLite derives the number of inputs from the size that it is asked for and does not compare it with what there is:
/// the size must be one that comes from exactly these inputs.
std::vector<TransposedAxis> transposed_axes(const NodeOut& n) {
  const Shape &w = n.shape(1), &xs = n.shape(0), &ys = n.out_shape();
  const std::size_t rank = w.size() - 2;
  const Ints strides = n.node.attributes.ints_or("strides", Ints(rank, 1));
  const Ints pads = n.node.attributes.ints_or("pads", Ints(2 * rank, 0));
  const Ints extra = n.node.attributes.ints_or("output_padding", Ints(rank, 0));
  const std::string auto_pad = n.attr("auto_pad", "NOTSET");
  const bool divides = auto_pad.starts_with("SAME") || n.node.attributes.has("output_shape");
  std::vector<TransposedAxis> axes(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    TransposedAxis& a = axes[i];
    const std::int64_t in = xs[i + 1].value(), stride = strides[i], full = (in - 1) * stride + w[i + 2].value();
    a.wanted = ys[i + 1].value();
    a.before = auto_pad == "VALID" ? 0 : pads[i];
    if (divides) a.before = ops::split_padding(full + extra[i] - a.wanted, auto_pad == "SAME_UPPER").before;
    const std::int64_t total = full - a.wanted;
    a.is_same = total >= 0 && a.before == total / 2 && in == (a.wanted + stride - 1) / stride;
    // Up to stride - 1 elements more come from the same inputs; what lies beyond is zero.
    a.size = std::clamp(a.wanted + a.before, full, full + stride - 1);
    a.missing = std::max<std::int64_t>(a.wanted + a.before - a.size, 0);
  }
  return axes;
}

}  // namespace

void emit_conv_transpose(NodeOut& n) {
  const Shape &w = n.shape(1), &xs = n.shape(0);
  const Ints strides = n.node.attributes.ints_or("strides", Ints(w.size() - 2, 1));
  std::vector<TransposedAxis> axes = transposed_axes(n);
  const bool is_same = std::ranges::all_of(axes, &TransposedAxis::is_same);
  if (is_same)
    for (TransposedAxis& a : axes) a = {.size = a.wanted, .wanted = a.wanted};
  if (axes.size() == 1) axes.insert(axes.begin(), {.size = 1, .wanted = 1});
  const std::int64_t batch = xs[0].value(), channels = w[1].value();
  const auto shape_of = [&](std::int64_t height, std::int64_t width) { return Ints{batch, height, width, channels}; };

  const Image x = image_of(n, n.in(0), xs);
  const Ints dims = shape_of(axes[0].size, axes[1].size);
  const std::int32_t out_shape = n.e.ints(dims);
  const std::int32_t weights = weights_as(n, {1, 2, 3, 0});
  Options options(Op::TRANSPOSE_CONV);
  options.set("padding", is_same ? Padding::SAME : Padding::VALID)
      .set("stride_w", strides.back())
      .set("stride_h", strides.size() == 1 ? 1 : strides[0]);
  ImageResult y(n);
  const Ints kept = shape_of(axes[0].wanted - axes[0].missing, axes[1].wanted - axes[1].missing);
  const bool crops = kept != dims, pads = axes[0].missing || axes[1].missing, adds_bias = n.has(2);
  const auto next = [&](bool is_last, const Ints& shape) {
    return is_last ? y.tensor() : n.e.temporary(DType::f32, shape);
  };
  std::int32_t at = next(!crops && !pads && !adds_bias, dims);
  n.e.add(Op::TRANSPOSE_CONV, {out_shape, weights, x.tensor}, {at}, options);
  if (crops) {
    const std::int32_t cropped = next(!pads && !adds_bias, kept),
                       begin = n.e.ints({0, axes[0].before, axes[1].before, 0}), size = n.e.ints(kept);
    n.e.add(Op::SLICE, {at, begin, size}, {cropped});
    at = cropped;
  }
  if (pads) {
    const auto bottom = static_cast<std::int32_t>(axes[0].missing), right = static_cast<std::int32_t>(axes[1].missing);
    const std::int32_t amounts = n.e.constant(Tensor::of<std::int32_t>({4, 2}, {0, 0, 0, bottom, 0, right, 0, 0}));
    const std::int32_t padded = next(!adds_bias, shape_of(axes[0].wanted, axes[1].wanted));
    n.e.add(Op::PAD, {at, amounts}, {padded});
    at = padded;
  }
  if (adds_bias) {
    const std::int32_t bias = n.in(2);
    n.e.add(Op::ADD, {at, bias}, {y.tensor()});
  }
  y.finish();
}

}  // namespace ingot::backends::tflite
