// com.microsoft: 8-bit operators that compute in float between two roundings.
#include <algorithm>

#include "ingot/ops/nn/window.h"
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/integer_product.h"

namespace ingot::ops {
namespace {

/// Bytes with the scale and the zero point at inputs i and i + 1.
Value* floats_of(DecomposeContext& c, Value* bytes, std::size_t i) {
  return c.g.op("DequantizeLinear", {bytes, as_scalar(c.g, c.in(i)), as_scalar(c.g, c.in(i + 1))});
}
/// Input i with the scale and the zero point behind it.
Value* floats(DecomposeContext& c, std::size_t i) { return floats_of(c, c.in(i), i + 1); }

/// Rounded by the scale at input i and the zero point behind it; without one, to the type of input `like`.
Value* rounded(DecomposeContext& c, Value* x, std::size_t i, std::size_t like = 0) {
  Value* zero = c.has(i + 1) ? as_scalar(c.g, c.in(i + 1)) : c.g.scalar(0, c.elem(like));
  return c.g.op("QuantizeLinear", {x, as_scalar(c.g, c.in(i)), zero});
}

Values q_linear_add(DecomposeContext& c) { return {rounded(c, c.g.add(floats(c, 0), floats(c, 3)), 6)}; }
Values q_linear_mul(DecomposeContext& c) { return {rounded(c, c.g.mul(floats(c, 0), floats(c, 3)), 6)}; }
Values q_linear_sigmoid(DecomposeContext& c) { return {rounded(c, c.g.op("Sigmoid", {floats(c, 0)}), 3)}; }
Values q_linear_leaky_relu(DecomposeContext& c) {
  Value* y = c.g.op("LeakyRelu", {floats(c, 0)}, {{"alpha", static_cast<double>(c.attr("alpha", 0.01f))}});
  return {rounded(c, y, 3)};
}

Values q_linear_where(DecomposeContext& c) {
  return {rounded(c, c.g.where(c.in(0), floats(c, 1), floats(c, 4)), 7, 1)};
}

/// The result's scale and zero point come first, then three inputs for each part.
Values q_linear_concat(DecomposeContext& c) {
  if (c.node.input_count() < 5 || (c.node.input_count() - 2) % 3 != 0) return {};
  Values parts;
  for (std::size_t i = 2; i + 2 < c.node.input_count(); i += 3) parts.push_back(floats(c, i));
  return {rounded(c, c.g.concat(parts, c.attr("axis", std::int64_t{0})), 0, 2)};
}

/// Shares are rounded by a whole number of steps to one.
Values q_linear_softmax(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  Value* x = floats(c, 0);
  const std::int64_t axis = c.attr("axis", std::int64_t{-1});
  Value* shares = nullptr;
  if (c.attr("opset", std::int64_t{13}) >= 13) {
    shares = g.op("Softmax", {x}, {{"axis", axis}});
  } else {
    Value* flat = g.op("Flatten", {x}, {{"axis", axis}});
    shares = g.op("Reshape", {g.op("Softmax", {flat}, {{"axis", -1}}), g.shape(c.in(0))});
  }
  Value* steps = g.op("Floor", {g.op("Reciprocal", {as_scalar(g, c.in(3))})});
  Value* zero = c.has(4) ? as_scalar(g, c.in(4)) : g.scalar(0, c.elem(0));
  return {g.op("QuantizeLinear", {g.mul(shares, steps), g.scalar(1, DType::f32), zero})};
}

bool is_channels_last(const DecomposeContext& c) { return c.attr("channels_last", std::int64_t{0}) != 0; }

/// The bytes are moved, not the floats: a quarter of the memory. ONNX Runtime 1.30 does not load a Transpose of floats
/// before a QuantizeLinear to int8, either: what it puts between them has no zero point.
Values pooled(DecomposeContext& c, Name op, const Attrs& attributes) {
  if (!c.rank(0)) return {};
  const bool is_last = is_channels_last(c);
  Value* x = floats_of(c, is_last ? channels_first(c.g, c.in(0)) : c.in(0), 1);
  Value* y = rounded(c, c.g.op(op, {x}, attributes), 3);
  return {is_last ? channels_last(c.g, y) : y};
}

/// The attributes of those names. ONNX Runtime heeds ceil_mode without padding too: VALID, where ONNX does not, is left
/// out.
Attrs attributes_of_pool(const Node& node, std::initializer_list<std::string_view> names) {
  Attrs attributes = attributes_of(node, names);
  if (node.attributes.string_or("auto_pad", "") == "VALID")
    std::erase_if(attributes, [](const Attr& a) { return a.name == "auto_pad" || a.name == "pads"; });
  return attributes;
}

/// Where padding counts, ONNX Runtime divides by all of the kernel, also where a window reaches beyond the padding
/// (ceil_mode): the same windows with so much padding at the end that each of them is whole. That is less than the
/// kernel, as a window that would begin behind the input is left out.
Attrs with_whole_windows(const Window& w) {
  std::vector<std::int64_t> kernel, pads = w.pads;
  if (w.auto_pad == Window::AutoPad::valid) std::ranges::fill(pads, 0);
  for (std::size_t i = 0; i < w.rank(); ++i) {
    kernel.push_back(w.kernel[i].value());
    std::int64_t& end = pads[i + w.rank()];
    end = end > kernel[i] - w.strides[i] ? kernel[i] - 1 : end + w.strides[i] - 1;
  }
  return {{"kernel_shape", kernel}, {"strides", w.strides}, {"pads", pads}, {"count_include_pad", 1}};
}

Values q_linear_average_pool(DecomposeContext& c) {
  Attrs attributes =
      attributes_of_pool(c.node, {"auto_pad", "kernel_shape", "strides", "pads", "ceil_mode", "count_include_pad"});
  const auto rank = c.rank(0);
  if (rank && *rank > 2 && c.attr("count_include_pad", std::int64_t{0}) != 0) {
    const Window w = Window::read(c.node.attributes, static_cast<std::size_t>(*rank) - 2);
    if (w.ceil_mode && !w.is_same()) attributes = with_whole_windows(w);
  }
  return pooled(c, "AveragePool", attributes);
}

Values q_linear_global_average_pool(DecomposeContext& c) { return pooled(c, "GlobalAveragePool", {}); }

/// As ONNX has it, for either place of the channels; the weights stay as they are.
Values q_linear_conv(DecomposeContext& c) {
  if (!c.rank(0)) return {};
  Values inputs = c.node.inputs();
  if (is_channels_last(c)) inputs[0] = channels_first(c.g, inputs[0]);
  for (const std::size_t i : {1, 2, 6, 7}) inputs[i] = as_scalar(c.g, inputs[i]);
  Value* y = c.g.op("QLinearConv", inputs,
                    attributes_of(c.node, {"auto_pad", "kernel_shape", "dilations", "strides", "pads", "group"}));
  return {is_channels_last(c) ? channels_last(c.g, y) : y};
}

/// Float between the roundings; a bias has the steps of both scales.
Values q_linear_conv_transpose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto channels = c.rank(4);
  if (!channels) return {};
  if (*channels == 1 && !(*c.in(4)->type.shape)[0].is_known()) return {};
  const bool has_many = *channels == 1 && (*c.in(4)->type.shape)[0].value() > 1;
  Value* w = has_many ? g.op("DequantizeLinear", {c.in(3), c.in(4), c.in(5)}, {{"axis", 1}}) : floats(c, 3);
  Value* bias = nullptr;
  if (c.has(8)) bias = g.mul(g.cast(c.in(8), DType::f32), g.mul(as_scalar(g, c.in(1)), c.in(4)));
  Value* y = g.op("ConvTranspose", {floats(c, 0), w, bias},
                  attributes_of(c.node, {"auto_pad", "kernel_shape", "output_shape", "output_padding", "dilations",
                                         "strides", "pads", "group"}));
  return {rounded(c, y, 6)};
}

Values q_linear_reduce_mean(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  Value* zero = c.has(2) ? as_scalar(g, c.in(2)) : nullptr;
  Value* x = g.op("DequantizeLinear", {c.in(0), as_scalar(g, c.in(1)), zero});
  Value* y = g.op("ReduceMean", {x, g.ints(c.node.attributes.ints_or("axes", {}))},
                  {{"keepdims", c.attr("keepdims", std::int64_t{1})}});
  return {rounded(c, y, 3)};
}

Values reduce_sum_integer(DecomposeContext& c) {
  return {c.g.reduce_sum(c.g.cast(c.in(0), DType::i32), c.node.attributes.ints_or("axes", {}),
                         c.attr("keepdims", std::int64_t{1}) != 0)};
}

Values mul_integer(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto from_zero = [&](std::size_t i) {
    Value* x = g.cast(c.in(i), DType::i32);
    return c.has(i + 1) ? g.sub(x, g.cast(c.in(i + 1), DType::i32)) : x;
  };
  return {g.mul(from_zero(0), from_zero(2))};
}

Values nhwc_max_pool(DecomposeContext& c) {
  if (!c.rank(0)) return {};
  Value* y =
      c.g.op("MaxPool", {channels_first(c.g, c.in(0))},
             attributes_of_pool(c.node, {"auto_pad", "kernel_shape", "dilations", "strides", "pads", "ceil_mode"}));
  return {channels_last(c.g, y)};
}

/// ONNX has them with the same meaning today; only the axis is counted from another place.
Values quantize_linear(DecomposeContext& c) {
  return {c.g.op("QuantizeLinear", {c.in(0), c.in(1), c.in(2)}, {{"axis", c.attr("axis", std::int64_t{1})}})};
}
Values dequantize_linear(DecomposeContext& c) {
  return {c.g.op("DequantizeLinear", {c.in(0), c.in(1), c.in(2)}, {{"axis", c.attr("axis", std::int64_t{1})}})};
}

}  // namespace

#define INGOT_BODY(op, body)                    \
  constinit const OpDef defs::microsoft::op = { \
      .name = #op, .domain = kMicrosoft, .infer = infer_by_body, .decompose = body}
INGOT_BODY(DequantizeLinear, dequantize_linear);
INGOT_BODY(MulInteger, mul_integer);
INGOT_BODY(NhwcMaxPool, nhwc_max_pool);
INGOT_BODY(QLinearAdd, q_linear_add);
INGOT_BODY(QLinearAveragePool, q_linear_average_pool);
INGOT_BODY(QLinearConcat, q_linear_concat);
INGOT_BODY(QLinearConv, q_linear_conv);
INGOT_BODY(QLinearConvTranspose, q_linear_conv_transpose);
INGOT_BODY(QLinearGlobalAveragePool, q_linear_global_average_pool);
INGOT_BODY(QLinearLeakyRelu, q_linear_leaky_relu);
INGOT_BODY(QLinearMul, q_linear_mul);
INGOT_BODY(QLinearReduceMean, q_linear_reduce_mean);
INGOT_BODY(QLinearSigmoid, q_linear_sigmoid);
INGOT_BODY(QLinearSoftmax, q_linear_softmax);
INGOT_BODY(QLinearWhere, q_linear_where);
INGOT_BODY(QuantizeLinear, quantize_linear);
INGOT_BODY(ReduceSumInteger, reduce_sum_integer);
#undef INGOT_BODY

}  // namespace ingot::ops
