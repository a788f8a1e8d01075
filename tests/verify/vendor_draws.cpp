// What is drawn of each operator: shapes, types, attributes, which inputs and outputs there are.
#include <algorithm>

#include "tests/verify/vendor_case.h"

namespace ingot::test {
namespace {

using Case = VendorCase;

void gelu(Case& c) { c.input(c.floats({c.number(1, 3), c.number(1, 9)}, -4, 4)); }

void bias_gelu(Case& c) {
  const std::int64_t width = c.number(1, 17);
  c.input(c.floats({c.number(1, 3), c.number(1, 4), width}, -3, 3));
  c.weight(c.floats({width}));
}

void fast_gelu(Case& c) { bias_gelu(c); }

void quick_gelu(Case& c) {
  gelu(c);
  if (c.chance(0.5)) c.attribute({"alpha", static_cast<double>(c.number(1, 4)) / 2});
}

void skip_layer_normalization(Case& c) {
  const std::int64_t b = c.number(1, 3), s = c.number(1, 5), h = 4 * c.number(1, 8);
  c.input(c.floats({b, s, h}));
  const std::int64_t form = c.number(0, 2);
  c.input(c.floats(form == 0 ? Dims{b, s, h} : form == 1 ? Dims{1, s, h} : Dims{s, h}));
  c.weight(c.floats({h}));
  const bool has_beta = c.chance(0.7), has_bias = c.chance(0.5);
  if (has_beta) c.weight(c.floats({h}));
  if (!has_beta && has_bias) c.absent();
  if (has_bias) c.weight(c.floats({h}));
  if (c.chance(0.5)) c.attribute({"epsilon", 1e-5});
  if (c.chance(0.5)) c.outputs(4, 0b1001);
}

void skip_simplified_layer_normalization(Case& c) {
  const std::int64_t b = c.number(1, 3), s = c.number(1, 5), h = 4 * c.number(1, 8);
  c.input(c.floats({b, s, h}));
  c.input(c.floats({b, s, h}));
  c.weight(c.floats({h}));
  if (c.chance(0.5)) c.weight(c.floats({h}));
  c.attribute({"epsilon", 1e-5});
  if (c.chance(0.5)) c.outputs(4, 0b1001);
}

void simplified_layer_normalization(Case& c) {
  const std::int64_t h = c.number(1, 16);
  c.input(c.floats({c.number(1, 3), c.number(1, 5), h}));
  c.weight(c.floats({h}));
  c.attribute({"axis", -1});
  c.attribute({"epsilon", 1e-5});
}

void embed_layer_normalization(Case& c) {
  const std::int64_t b = c.number(1, 3), s = c.number(1, 5), h = 4 * c.number(1, 4), words = 11, places = 9;
  c.input(c.integers(DType::i32, {b, s}, 0, words - 1));
  const bool has_segments = c.chance(0.6);
  if (has_segments)
    c.input(c.integers(DType::i32, {b, s}, 0, 1));
  else
    c.absent();
  c.weight(c.floats({words, h}));
  c.weight(c.floats({places, h}));
  if (has_segments)
    c.weight(c.floats({2, h}));
  else
    c.absent();
  c.weight(c.floats({h}));
  c.weight(c.floats({h}));
  const bool has_mask = c.chance(0.5), has_positions = c.chance(0.4);
  if (has_mask)
    c.input(c.integers(DType::i32, {b, s}, 0, 1));
  else if (has_positions)
    c.absent();
  if (has_positions) c.input(c.integers(DType::i32, {b, s}, 0, places - 1));
  c.attribute({"epsilon", 1e-5});
  c.outputs(c.chance(0.5) ? 3 : 2);
}

void fused_matmul(Case& c) {
  const std::int64_t m = c.number(1, 5), k = c.number(1, 6), n = c.number(1, 5), b = c.number(1, 3);
  const bool turns_a = c.chance(0.5), turns_b = c.chance(0.5), has_batch = c.chance(0.7);
  const bool moves = has_batch && c.chance(0.3);
  const auto dims = [&](std::int64_t rows, std::int64_t columns, bool turned) {
    Dims d = {turned ? columns : rows, turned ? rows : columns};
    if (has_batch) d.insert(moves ? d.begin() + 1 : d.begin(), b);
    return d;
  };
  c.input(c.floats(dims(m, k, turns_a)));
  c.input(c.floats(dims(k, n, turns_b)));
  c.attribute({"transA", turns_a});
  c.attribute({"transB", turns_b});
  if (moves) {
    c.attribute({"transBatchA", 1});
    c.attribute({"transBatchB", 1});
  }
  if (c.chance(0.5)) c.attribute({"alpha", 0.25});
}

void transpose_matmul(Case& c) {
  const std::int64_t m = c.number(1, 5), k = c.number(1, 6), n = c.number(1, 5);
  const bool turns_a = c.chance(0.5), turns_b = c.chance(0.5);
  c.input(c.floats(turns_a ? Dims{k, m} : Dims{m, k}));
  c.input(c.floats(turns_b ? Dims{n, k} : Dims{k, n}));
  c.attribute({"transA", turns_a});
  c.attribute({"transB", turns_b});
}

void fused_conv(Case& c) {
  const std::int64_t channels = c.number(1, 4), filters = c.number(1, 5), size = c.number(4, 8);
  c.input(c.floats({c.number(1, 2), channels, size, size}));
  c.weight(c.floats({filters, channels, 3, 3}));
  c.weight(c.floats({filters}));
  c.attribute({"kernel_shape", {3, 3}});
  c.attribute({"pads", {1, 1, 1, 1}});
  if (c.chance(0.4)) c.attribute({"strides", {2, 2}});
  const std::string activation = c.one_of<std::string>({"Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid"});
  c.attribute({"activation", activation.c_str()});
  using Floats = std::vector<float>;
  if (activation == "LeakyRelu") c.attribute({"activation_params", AttrValue(Floats{0.1f})});
  if (activation == "Clip") c.attribute({"activation_params", AttrValue(Floats{-0.5f, 0.5f})});
  if (activation == "HardSigmoid") c.attribute({"activation_params", AttrValue(Floats{0.2f, 0.4f})});
}

void fused_gemm(Case& c) {
  const std::int64_t m = c.number(1, 5), k = c.number(1, 6), n = c.number(1, 5);
  const bool turns_a = c.chance(0.5), turns_b = c.chance(0.5);
  c.input(c.floats(turns_a ? Dims{k, m} : Dims{m, k}));
  c.weight(c.floats(turns_b ? Dims{n, k} : Dims{k, n}));
  if (c.chance(0.7)) c.weight(c.floats({n}));
  c.attribute({"transA", turns_a});
  c.attribute({"transB", turns_b});
  c.attribute({"alpha", 0.5});
  const std::string activation =
      c.one_of<std::string>({"Relu", "Tanh", "Sigmoid", "LeakyRelu", "Elu", "Celu", "Selu", "Softplus", "Softsign",
                             "ThresholdedRelu", "HardSigmoid", "ParametricSoftplus", "ScaledTanh"});
  c.attribute({"activation", activation.c_str()});
  // All are given: those that the activation does not know mean nothing.
  c.attribute({"activation_alpha", 0.1});
  c.attribute({"activation_beta", 0.4});
  c.attribute({"activation_gamma", 1.2});
}

/// Zeros and ones, first in each row a one: of a row without any key only rounding at -10000 is left.
Tensor some_of_each_row(Case& c, Dims dims) {
  std::vector<std::int32_t> kept;
  const std::int64_t width = dims.back();
  for (std::int64_t i = 0; i < tensor_size(dims); ++i) kept.push_back(i % width == 0 || c.chance(0.5));
  return Tensor::of<std::int32_t>(std::move(dims), kept);
}

/// A mask in one of its forms; returns whether there is one.
void draw_mask(Case& c, std::int64_t b, std::int64_t s, std::int64_t t) {
  switch (c.number(0, 6)) {
    case 0:
      return c.absent();
    case 5: {  // ends, and behind them beginnings
      std::vector<std::int32_t> bounds;
      for (std::int64_t i = 0; i < b; ++i)
        bounds.push_back(static_cast<std::int32_t>(c.number(std::min<std::int64_t>(2, t), t)));
      for (std::int64_t i = 0; i < b; ++i) bounds.push_back(static_cast<std::int32_t>(c.number(0, 1)));
      return c.input(Tensor::of<std::int32_t>({2 * b}, bounds));
    }
    case 6:  // means nothing
      return c.input(c.integers(DType::i32, {c.chance(0.5) ? b : 1, 1}, 0, 1));
    case 1:
      return c.input(c.integers(DType::i32, {b}, 1, t));
    case 2:
      return c.input(some_of_each_row(c, {b, t > 1 ? t : 2}));
    default:
      return c.input(some_of_each_row(c, {b, s, t}));
  }
}

void attention(Case& c) {
  const std::int64_t b = c.number(1, 3), s = c.number(2, 5), heads = c.number(1, 3), width = 4 * c.number(1, 2);
  const std::int64_t hidden = heads * width, in = c.number(2, 9);
  const bool has_past = c.chance(0.3);
  // Values may be wider than keys, but not with a cache of both.
  const std::int64_t values = !has_past && c.chance(0.3) ? heads * 4 * c.number(1, 3) : hidden;
  c.input(c.floats({b, s, in}));
  c.weight(c.floats({in, 2 * hidden + values}));
  c.weight(c.floats({2 * hidden + values}));
  const std::int64_t past = has_past ? c.number(1, 4) : 0;
  draw_mask(c, b, s, s + past);
  if (has_past) c.input(c.floats({2, b, heads, past, width}));
  if (!has_past && c.chance(0.3)) {
    c.absent();
    c.input(c.floats({c.chance(0.5) ? b : 1, c.chance(0.5) ? heads : 1, s, s}));
  }
  if (values != hidden) c.attribute({"qkv_hidden_sizes", AttrValue(std::vector<std::int64_t>{hidden, hidden, values})});
  if (c.chance(0.3)) c.attribute({"mask_filter_value", -1000.0f});
  c.attribute({"num_heads", AttrValue(heads)});
  if (c.chance(0.3)) c.attribute({"unidirectional", 1});
  if (c.chance(0.3)) c.attribute({"scale", 0.3});
  if (has_past) c.outputs(2);
}

void multi_head_attention(Case& c) {
  const std::int64_t b = c.number(1, 3), s = c.number(2, 5), l = c.number(2, 6), heads = c.number(1, 3),
                     width = 4 * c.number(1, 2), hidden = heads * width;
  const bool is_projected = c.chance(0.2);
  c.input(c.floats({b, s, hidden}));
  c.input(c.floats(is_projected ? Dims{b, heads, l, width} : Dims{b, l, hidden}));
  c.input(c.floats(is_projected ? Dims{b, heads, l, width} : Dims{b, l, hidden}));
  const bool has_bias = !is_projected && c.chance(0.5), has_past = !is_projected && c.chance(0.3);
  const std::int64_t past = has_past ? c.number(1, 3) : 0;
  if (has_bias)
    c.weight(c.floats({3 * hidden}));
  else
    c.absent();
  const double form = static_cast<double>(c.number(0, 99)) / 100;
  if (form < 0.3 && !has_past)
    c.input(c.integers(DType::i32, {b}, 1, l));
  else if (form < 0.6)
    c.input(some_of_each_row(c, form < 0.45 ? Dims{b, l + past} : Dims{b, s, l + past}));
  else
    c.absent();
  if (c.chance(0.4))
    c.input(c.floats({c.chance(0.5) ? b : 1, c.chance(0.5) ? heads : 1, s, l + past}));
  else
    c.absent();
  if (has_past) {
    c.input(c.floats({b, heads, past, width}));
    c.input(c.floats({b, heads, past, width}));
    c.outputs(3);
  }
  c.attribute({"num_heads", AttrValue(heads)});
  if (c.chance(0.3)) c.attribute({"scale", 0.3});
  if (c.chance(0.2)) c.attribute({"unidirectional", 1});
  if (!has_past && c.chance(0.2)) c.outputs(4, 0b1001);
}

void q_attention(Case& c) {
  const std::int64_t b = c.number(1, 3), s = c.number(2, 5), heads = c.number(1, 3), width = 4, hidden = heads * width;
  const std::int64_t in = c.number(2, 9);
  const DType weights = c.chance(0.5) ? DType::u8 : DType::i8;
  c.input(c.integers(DType::u8, {b, s, in}, 0, 255));
  c.weight(c.integers(weights, {in, 3 * hidden}, weights == DType::u8 ? 0 : -63, weights == DType::u8 ? 127 : 63));
  c.weight(c.floats({3 * hidden}));
  c.weight(c.floats({1}, 0.005, 0.02));
  c.weight(c.floats({1}, 0.005, 0.02));
  draw_mask(c, b, s, s);
  c.weight(c.integers(DType::u8, {1}, 100, 140));
  c.weight(c.integers(weights, {1}, 0, 20));
  c.attribute({"num_heads", AttrValue(heads)});
  c.scale = 1e-3;
}

void rotary_embedding(Case& c) {
  const std::int64_t b = c.number(1, 3), s = c.number(1, 5), heads = c.number(1, 3), width = 8, places = 12;
  const bool has_heads = c.chance(0.4);
  c.input(c.floats(has_heads ? Dims{b, heads, s, width} : Dims{b, s, heads * width}));
  if (c.chance(0.5))
    c.input(c.integers(DType::i64, {b, s}, 0, places - 1));
  else
    c.input(c.integers(DType::i64, {1}, 0, places - s));
  const bool is_part = !has_heads && c.chance(0.3);
  const std::int64_t turned = is_part ? 4 : width;
  c.weight(c.floats({places, turned / 2}));
  c.weight(c.floats({places, turned / 2}));
  if (c.chance(0.5)) c.attribute({"interleaved", 1});
  if (is_part) {
    c.attribute({"num_heads", AttrValue(heads)});
    c.attribute({"rotary_embedding_dim", AttrValue(turned)});
  }
}

void group_query_attention(Case& c) {
  const std::int64_t groups = c.number(1, 2), heads = groups * c.number(1, 3), width = 16;
  const bool is_prompt = c.chance(0.5);
  const std::int64_t b = is_prompt ? c.number(1, 2) : c.number(1, 3), s = is_prompt ? c.number(1, 5) : 1;
  const std::int64_t past = is_prompt ? 0 : c.number(1, 5), total = past + s;
  // A cache may be longer than what it holds; what is behind that, ONNX Runtime leaves open.
  const bool is_longer = c.chance(0.3);
  const std::int64_t cache = is_longer ? total + c.number(1, 3) : past;
  if (c.chance(0.3)) {
    c.input(c.floats({b, s, (heads + 2 * groups) * width}));
    c.absent();
    c.absent();
  } else {
    c.input(c.floats({b, s, heads * width}));
    c.input(c.floats({b, s, groups * width}));
    c.input(c.floats({b, s, groups * width}));
  }
  c.input(c.floats({b, groups, cache, width}));
  c.input(c.floats({b, groups, cache, width}));
  c.input(c.integers(DType::i32, {b}, total - 1, total - 1));
  c.input(c.integers(DType::i32, {1}, total, total));
  if (c.chance(0.4)) {
    c.weight(c.floats({16, width / 2}));
    c.weight(c.floats({16, width / 2}));
    c.attribute({"do_rotary", 1});
    if (c.chance(0.5)) c.attribute({"rotary_interleaved", 1});
  }
  c.attribute({"num_heads", AttrValue(heads)});
  c.attribute({"kv_num_heads", AttrValue(groups)});
  if (c.chance(0.3)) c.attribute({"local_window_size", 2});
  if (c.chance(0.2)) c.attribute({"softcap", 2.0});
  const bool has_sink = c.chance(0.3);
  if (c.chance(0.3)) {
    while (c.input_count() < 10) c.absent();
    c.input(c.floats({c.chance(0.5) ? b : 1, c.chance(0.5) ? heads : 1, s, total}));
  }
  if (has_sink) {
    while (c.input_count() < 11) c.absent();
    c.weight(c.floats({heads}));
  } else if (c.chance(0.2)) {
    c.attribute({"smooth_softmax", 1});
  }
  const std::int64_t kept = c.chance(0.3) ? c.number(1, 2) : 0;
  if (kept) c.attribute({"qk_output", AttrValue(kept)});
  c.outputs(kept ? 4 : 3);
  for (std::size_t i = 1; is_longer && i < 3; ++i) c.leave_open(i);
}

void expand_dims(Case& c) {
  c.input(c.floats({c.number(1, 4), c.number(1, 4)}));
  c.weight(c.integers(DType::i32, {}, -3, 2));
}

void range(Case& c) {
  c.input(c.floats({}, 0, 3));
  c.input(c.floats({}, 4, 9));
  if (c.chance(0.5)) c.input(c.floats({}, 0.5, 2));
}

void trilu(Case& c) {
  c.input(c.floats({c.number(1, 2), c.number(1, 5), c.number(1, 5)}));
  if (c.chance(0.5)) c.weight(c.integers(DType::i64, {}, -2, 2));
  c.attribute({"upper", c.chance(0.5)});
}

void gather_nd(Case& c) {
  const std::int64_t rows = c.number(1, 4), columns = c.number(1, 4);
  c.input(c.floats({rows, columns, 3}));
  c.input(c.integers(c.chance(0.5) ? DType::i64 : DType::i32, {c.number(1, 4), 1}, 0, rows - 1));
}

void pad(Case& c) {
  c.input(c.floats({c.number(1, 4), c.number(2, 4)}));
  c.weight(c.integers(DType::i64, {4}, 0, 2));
  if (c.chance(0.5)) c.weight(c.floats({1}));
}

void unique(Case& c) {
  const Tensor drawn = c.integers(DType::i32, {c.number(1, 12)}, 0, 5);
  std::vector<float> values;
  for (const std::int64_t v : drawn.to_ints()) values.push_back(static_cast<float>(v));
  c.input(Tensor::of<float>(drawn.dims(), values));
  c.outputs(3);
}

void unfold_tensor(Case& c) {
  c.input(c.floats({c.number(1, 3), c.number(4, 8), c.number(4, 8)}));
  c.attribute({"dim", c.number(0, 1) ? -1 : 1});
  c.attribute({"size", AttrValue(c.number(1, 4))});
  c.attribute({"step", AttrValue(c.number(1, 3))});
}

void c_dist(Case& c) {
  const std::int64_t width = c.number(1, 6);
  c.input(c.floats({c.number(1, 5), width}));
  c.input(c.floats({c.number(1, 5), width}));
  c.attribute({"metric", c.chance(0.5) ? "euclidean" : "sqeuclidean"});
  c.scale = 1e-3;
}

void grid_sample(Case& c) {
  c.input(c.floats({1, c.number(1, 3), c.number(3, 6), c.number(3, 6)}));
  c.input(c.floats({1, c.number(1, 4), c.number(1, 4), 2}, -1.1, 1.1));
  const bool is_cubic = c.chance(0.4);
  c.attribute({"mode", is_cubic ? "bicubic" : "bilinear"});
  if (!is_cubic) c.attribute({"padding_mode", c.one_of<std::string>({"zeros", "border", "reflection"}).c_str()});
  c.attribute({"align_corners", c.chance(0.5)});
}

void crop_and_resize(Case& c) {
  const std::int64_t n = c.number(1, 2), rois = c.number(1, 4);
  c.input(c.floats({n, c.number(1, 3), c.number(3, 7), c.number(3, 7)}));
  c.input(c.floats({rois, 4}, -0.1, 1.1));
  c.input(c.integers(DType::i32, {rois}, 0, n - 1));
  c.weight(c.integers(DType::i32, {2}, 1, 5));
  c.attribute({"extrapolation_value", 0.5});
}

void conv_transpose_with_dynamic_pads(Case& c) {
  const std::int64_t channels = c.number(1, 3), filters = c.number(1, 3);
  c.input(c.floats({1, channels, c.number(3, 5), c.number(3, 5)}));
  c.weight(c.floats({channels, filters, 3, 3}));
  c.input(c.integers(DType::i64, {4}, 0, 1));
  if (c.chance(0.5)) c.weight(c.floats({filters}));
  if (c.chance(0.5)) c.attribute({"strides", {2, 2}});
}

void mixture_of_experts(Case& c) {
  const std::int64_t rows = c.number(1, 5), width = 4 * c.number(1, 2), inner = 4 * c.number(1, 3),
                     experts = c.number(2, 4);
  c.input(c.floats({rows, width}));
  c.input(c.floats({rows, experts}, -2, 2));
  c.weight(c.floats({experts, inner, width}));
  c.weight(c.floats({experts, inner}));
  c.weight(c.floats({experts, width, inner}));
  c.weight(c.floats({experts, width}));
  c.attribute({"k", AttrValue(c.number(1, 2))});
  c.attribute({"activation_type", c.one_of<std::string>({"relu", "gelu", "silu", "identity"}).c_str()});
  c.attribute({"normalize_routing_weights", c.chance(0.5)});
}

/// ONNX Runtime has these up to opset 9.
void linear(Case& c) {
  c.opset = 9;
  c.input(c.floats({c.number(1, 3), 3, c.number(2, 5), c.number(2, 5)}));
}

void affine(Case& c) {
  linear(c);
  c.attribute({"alpha", 0.5});
  c.attribute({"beta", 0.25});
}

void image_scaler(Case& c) {
  linear(c);
  c.attribute({"scale", 0.5});
  c.attribute({"bias", AttrValue(std::vector<float>{0.1f, 0.2f, 0.3f})});
}

void crop(Case& c) {
  c.opset = 9;
  c.input(c.floats({1, 2, 8, 8}));
  c.attribute(
      {"border", AttrValue(std::vector<std::int64_t>{c.number(0, 2), c.number(0, 2), c.number(0, 2), c.number(0, 2)})});
}

}  // namespace

const std::vector<VendorOperator>& vendor_operators() {
  static const std::vector<VendorOperator> all = {
      {"Affine", affine, ""},
      {"Attention", attention},
      {"BiasGelu", bias_gelu},
      {"CDist", c_dist},
      {"ConvTransposeWithDynamicPads", conv_transpose_with_dynamic_pads},
      {"Crop", crop, ""},
      {"CropAndResize", crop_and_resize},
      {"EmbedLayerNormalization", embed_layer_normalization},
      {"ExpandDims", expand_dims},
      {"FastGelu", fast_gelu},
      {"FusedConv", fused_conv},
      {"FusedGemm", fused_gemm},
      {"FusedMatMul", fused_matmul},
      {"GatherND", gather_nd},
      {"Gelu", gelu},
      {"GridSample", grid_sample},
      {"GroupQueryAttention", group_query_attention},
      {"ImageScaler", image_scaler, ""},
      {"MoE", mixture_of_experts},
      {"MultiHeadAttention", multi_head_attention},
      {"Pad", pad},
      {"ParametricSoftplus", affine, ""},
      {"QAttention", q_attention},
      {"QuickGelu", quick_gelu},
      {"Range", range},
      {"RotaryEmbedding", rotary_embedding},
      {"SampleOp", gelu},
      {"ScaledTanh", affine, ""},
      {"SimplifiedLayerNormalization", simplified_layer_normalization, ""},
      {"SkipLayerNormalization", skip_layer_normalization},
      {"SkipSimplifiedLayerNormalization", skip_simplified_layer_normalization},
      {"TransposeMatMul", transpose_matmul},
      {"Trilu", trilu},
      {"UnfoldTensor", unfold_tensor},
      {"Unique", unique},
  };
  return all;
}

}  // namespace ingot::test
