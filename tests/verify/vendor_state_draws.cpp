// What is drawn of operators with a state, of rarer ones, and of others in other precisions.
#include <array>
#include <bit>

#include "tests/verify/vendor_case.h"

namespace ingot::test {
namespace {

using Case = VendorCase;

void causal_conv_with_state(Case& c) {
  const std::int64_t b = c.number(1, 3), channels = c.number(1, 5), length = c.number(1, 6), taps = c.number(2, 4);
  c.input(c.floats({b, channels, length}));
  c.weight(c.floats({channels, 1, taps}));
  const bool has_bias = c.chance(0.5), has_past = c.chance(0.5);
  if (has_bias)
    c.weight(c.floats({channels}));
  else if (has_past)
    c.absent();
  if (has_past) c.input(c.floats({b, channels, taps - 1}));
  if (c.chance(0.6)) c.attribute({"activation", c.one_of<std::string>({"silu", "swish", "none"}).c_str()});
  c.outputs(2);
}

void linear_attention(Case& c) {
  const std::int64_t b = c.number(1, 2), rows = c.number(1, 5), groups = c.number(1, 2),
                     heads = groups * c.number(1, 2), width = 4 * c.number(1, 2), values = 4 * c.number(1, 2);
  const std::string rule = c.one_of<std::string>({"linear", "gated", "delta", "gated_delta"});
  c.input(c.floats({b, rows, heads * width}));
  c.input(c.floats({b, rows, groups * width}));
  c.input(c.floats({b, rows, groups * values}));
  if (c.chance(0.5))
    c.input(c.floats({b, groups, width, values}));
  else
    c.absent();
  const bool has_decay = rule.starts_with("gated"), has_beta = rule.ends_with("delta");
  if (has_decay)
    c.input(c.floats({b, rows, c.chance(0.5) ? groups : groups * width}, -1, 0));
  else if (has_beta)
    c.absent();
  if (has_beta) c.input(c.floats({b, rows, c.chance(0.5) ? groups : 1}, 0, 1));
  c.attribute({"q_num_heads", AttrValue(heads)});
  c.attribute({"kv_num_heads", AttrValue(groups)});
  c.attribute({"update_rule", rule.c_str()});
  if (c.chance(0.4)) c.attribute({"scale", 0.3});
  c.outputs(2);
}

void gated_add(Case& c) {
  const Dims rows = {c.number(1, 3), c.number(1, 4)};
  Dims whole = rows, gate = rows;
  whole.push_back(c.number(1, 9));
  gate.push_back(1);
  c.input(c.floats(whole));
  c.input(c.floats(whole));
  c.input(c.floats(gate));
}

void gated_rms_norm(Case& c) {
  const std::int64_t width = c.number(1, 8), rows = c.number(1, 4);
  c.input(c.floats({rows, width}));
  c.weight(c.floats({width}));
  c.input(c.floats({rows, width}));
  if (c.chance(0.5)) c.attribute({"epsilon", 1e-3});
}

/// A mask that leaves the first key: of a row without any only rounding at -10000 is left.
Tensor with_first(Case& c, Dims dims) {
  std::vector<std::int32_t> kept;
  for (std::int64_t i = 0; i < tensor_size(dims); ++i) kept.push_back(i % dims[1] == 0 || c.chance(0.5));
  return Tensor::of<std::int32_t>(std::move(dims), kept);
}

/// One more row against a cache of fixed length.
void decoder_masked_attention(Case& c) {
  const std::int64_t entries = c.number(1, 3), beams = c.chance(0.4) ? c.number(2, 3) : 1, b = entries * beams,
                     heads = c.number(1, 3), width = 4 * c.number(1, 2), hidden = heads * width, most = c.number(2, 6),
                     past = c.number(1, most - 1);
  const bool is_cross = c.chance(0.3), is_packed = !is_cross && c.chance(0.3);
  c.input(c.floats({b, 1, is_packed ? 3 * hidden : hidden}));
  for (int i = 0; i < 2; ++i)
    if (is_packed)
      c.absent();
    else
      c.input(c.floats(is_cross ? Dims{b, heads, most, width} : Dims{b, 1, hidden}));
  if (c.chance(0.4))
    c.input(with_first(c, {b, is_cross ? most : past + 1}));
  else
    c.absent();
  if (!is_cross) {
    if (c.chance(0.3))
      c.input(c.floats({1, heads, 1, past + 1}));
    else
      c.absent();
    c.input(c.floats({b, heads, most, width}));
    c.input(c.floats({b, heads, most, width}));
    c.input(c.integers(DType::i32, {1}, past, past));
    if (beams > 1) {  // each place of each beam is that of one of the beams
      c.input(c.integers(DType::i32, {1}, beams, beams));
      c.input(c.integers(DType::i32, {entries, beams, most}, 0, beams - 1));
    }
    c.attribute({"past_present_share_buffer", 1});
    c.outputs(3);
  }
  c.attribute({"num_heads", AttrValue(heads)});
}

void attn_lstm(Case& c) {
  const std::int64_t steps = c.number(1, 4), b = c.number(1, 3), in = c.number(1, 4), hidden = c.number(1, 5),
                     depth = c.number(1, 4), keys = c.number(1, 4), memory = c.number(1, 5);
  const std::string direction = c.one_of<std::string>({"forward", "reverse", "bidirectional"});
  const std::int64_t dirs = direction == "bidirectional" ? 2 : 1;
  const bool has_layer = c.chance(0.5);
  const std::int64_t layer = has_layer ? c.number(1, 4) : depth;
  const auto maybe = [&](double p, Dims dims) { c.chance(p) ? c.weight(c.floats(std::move(dims))) : c.absent(); };
  const auto lengths = [&](double p, std::int64_t most) {
    c.chance(p) ? c.input(c.integers(DType::i32, {b}, 1, most)) : c.absent();
  };
  c.input(c.floats({steps, b, in}));
  c.weight(c.floats({dirs, 4 * hidden, in + layer}));
  c.weight(c.floats({dirs, 4 * hidden, hidden}));
  maybe(0.7, {dirs, 8 * hidden});
  lengths(0.5, steps);
  maybe(0.4, {dirs, b, hidden});
  maybe(0.4, {dirs, b, hidden});
  maybe(0.4, {dirs, 3 * hidden});
  c.weight(c.floats({dirs, hidden, keys}));
  c.weight(c.floats({dirs, depth, keys}));
  c.weight(c.floats({dirs, keys}));
  c.input(c.floats({b, memory, depth}));
  lengths(0.5, memory);
  if (has_layer) c.weight(c.floats({dirs, depth + hidden, layer}));
  c.attribute({"hidden_size", AttrValue(hidden)});
  c.attribute({"direction", direction.c_str()});
  if (c.chance(0.3)) c.attribute({"input_forget", 1});
  if (c.chance(0.3)) c.attribute({"clip", 0.5f});
  c.outputs(3);
}

/// Rows and columns of blocks that heads see; of the blocks before its own a row has some.
void draw_blocks(Case& c, std::int64_t layouts, std::int64_t blocks) {
  std::vector<std::int32_t> rows;
  std::vector<std::vector<std::int32_t>> columns(static_cast<std::size_t>(layouts));
  std::size_t most = 1;
  for (auto& layout : columns) {
    const bool is_dense = c.chance(0.2);
    for (std::int32_t row = 0; row <= blocks; ++row) {
      rows.push_back(static_cast<std::int32_t>(layout.size()));
      for (std::int32_t column = 0; row < blocks && column <= row; ++column)
        if (is_dense || c.chance(column == row ? 0.9 : 0.5)) layout.push_back(column);
    }
    most = std::max(most, layout.size());
  }
  std::vector<std::int32_t> all;
  for (auto& layout : columns) {
    layout.resize(most, -1);
    all.insert(all.end(), layout.begin(), layout.end());
  }
  c.weight(Tensor::of<std::int32_t>({layouts, blocks + 1}, rows));
  c.weight(Tensor::of<std::int32_t>({layouts, static_cast<std::int64_t>(most)}, all));
}

/// Entries of a batch are equally long: of others ONNX Runtime reads the shares of another.
void sparse_attention(Case& c) {
  const std::int64_t b = c.number(1, 2), groups = c.number(1, 2), times = c.number(1, 2), heads = groups * times,
                     width = 16 * c.number(1, 2), block = c.number(1, 4), blocks = c.number(1, 4),
                     most = block * blocks, layouts = c.chance(0.5) ? heads : 1;
  const bool is_prompt = c.chance(0.4), is_packed = c.chance(0.3), turns = c.chance(0.5);
  const std::int64_t rows = is_prompt ? c.number(1, most) : c.number(1, std::min<std::int64_t>(most, 2)),
                     total = is_prompt ? rows : c.number(rows, most), cache = total + c.number(0, 3);
  c.input(c.floats({b, rows, (is_packed ? heads + 2 * groups : heads) * width}));
  for (int i = 0; i < 2; ++i)
    if (is_packed)
      c.absent();
    else
      c.input(c.floats({b, rows, groups * width}));
  for (int i = 0; i < 2; ++i) c.input(c.floats({b, groups, cache, width}));
  draw_blocks(c, layouts, blocks);
  c.input(c.integers(DType::i32, {1}, total, total));
  c.input(c.integers(DType::i32, {b}, total, total));
  if (turns) {
    const std::int64_t angles = 8 * c.number(1, width / 16);
    for (int i = 0; i < 2; ++i) c.weight(c.floats({most, angles}));
    c.attribute({"do_rotary", 1});
    if (c.chance(0.5)) c.attribute({"rotary_interleaved", 1});
  }
  c.attribute({"num_heads", AttrValue(heads)});
  c.attribute({"kv_num_heads", AttrValue(groups)});
  c.attribute({"sparse_block_size", AttrValue(block)});
  if (c.chance(0.4)) c.attribute({"scale", 0.3});
  c.outputs(3);
  c.in_place(1, 3);
  c.in_place(2, 4);
}

void maxpool_with_mask(Case& c) {
  const std::int64_t rank = c.number(1, 3), n = c.number(1, 2), channels = c.number(1, 3);
  Dims plane, kernel, strides, pads;
  for (std::int64_t i = 0; i < rank; ++i) {
    kernel.push_back(c.number(1, 3));
    plane.push_back(c.number(3, 6));
    strides.push_back(c.number(1, 2));
    pads.push_back(c.number(0, kernel.back() - 1));
  }
  for (std::int64_t i = 0; i < rank; ++i) pads.push_back(c.number(0, kernel[static_cast<std::size_t>(i)] - 1));
  const auto whole = [&](std::int64_t first, std::int64_t second) {
    Dims dims = {first, second};
    dims.insert(dims.end(), plane.begin(), plane.end());
    return dims;
  };
  c.input(c.floats(whole(n, channels)));
  const bool has_one_mask = c.chance(0.5);
  c.input(c.integers(DType::i32, has_one_mask ? whole(1, 1) : whole(n, channels), 0, c.chance(0.3) ? 1 : 5));
  c.attribute({"kernel_shape", AttrValue(kernel)});
  if (c.chance(0.6)) c.attribute({"strides", AttrValue(strides)});
  if (c.chance(0.6)) c.attribute({"pads", AttrValue(pads)});
}

void m_rotary_embedding(Case& c) {
  const std::int64_t b = c.number(1, 2), rows = c.number(1, 5), heads = c.number(1, 3), places = 9;
  c.input(c.floats({b, heads, rows, 16}));
  c.input(c.integers(DType::i64, {3, b, rows}, 0, places - 1));
  c.weight(c.floats({places, 8}));
  c.weight(c.floats({places, 8}));
  const std::int64_t layout = c.number(0, 1);
  c.attribute(
      {"mrope_section", AttrValue(layout ? std::vector<std::int64_t>{4, 2, 2} : std::vector<std::int64_t>{2, 3, 3})});
  if (layout) c.attribute({"mrope_layout", 1});
  if (c.chance(0.3)) c.attribute({"interleaved", 1});
}

void matmul_integer16(Case& c) {
  const std::int64_t m = c.number(1, 4), k = c.number(1, 6), n = c.number(1, 4);
  c.input(c.integers(DType::i16, {m, k}, -3000, 3000));
  c.input(c.integers(DType::i16, {k, n}, -3000, 3000));
}

void bifurcation_detector(Case& c) {
  const std::int64_t source = c.number(3, 9), current = c.number(2, 9), start = c.number(0, source - 1);
  c.input(c.integers(DType::i64, {source}, 0, 3));
  c.input(c.integers(DType::i64, {current}, 0, 3));
  c.input(c.integers(DType::i64, {}, start, start));
  if (c.chance(0.5)) c.input(c.integers(DType::i64, {source + 1 - start}, 0, 3));
  if (c.chance(0.5)) c.attribute({"max_ngram_size", static_cast<int>(c.number(1, 4))});
  c.outputs(2);
}

void linear_attention_gate(Case& c) {
  const std::int64_t b = c.number(1, 2), rows = c.number(1, 4), heads = c.number(1, 4);
  c.input(c.floats({b, rows, heads}));
  c.weight(c.floats({heads}));
  c.weight(c.floats({heads}));
  const bool has_beta = c.chance(0.6);
  if (has_beta) c.input(c.floats({b, rows, heads}));
  c.outputs(has_beta ? 2 : 1);
}

void word_conv_embedding(Case& c) {
  const std::int64_t words = c.number(1, 4), length = c.number(3, 6), taps = c.number(1, 3), width = c.number(1, 4),
                     letters = 7, filters = c.number(1, 5);
  std::vector<std::int32_t> ids;
  for (std::int64_t w = 0; w < words; ++w) {
    const std::int64_t used = c.number(1, length);  // of an empty word ONNX Runtime writes nothing
    for (std::int64_t i = 0; i < length; ++i)
      ids.push_back(i < used ? static_cast<std::int32_t>(c.number(1, letters - 1)) : 0);
  }
  c.input(Tensor::of<std::int32_t>({words, length}, ids));
  c.weight(c.floats({filters, 1, taps, width}));
  c.weight(c.floats({filters}));
  c.weight(c.floats({letters, width}));
}

/// Columns in blocks of 32: a scale of four bytes, a zero point of the second kind, and 16 bytes.
void matmul_fp_q4(Case& c) {
  const std::int64_t kind = c.number(0, 1), k = 32 * c.number(1, 3) - (c.chance(0.4) ? c.number(1, 20) : 0),
                     n = c.number(1, 5), blocks = n * ((k + 31) / 32);
  std::vector<std::uint8_t> bytes;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const auto scale = static_cast<float>(c.number(1, 9)) / 64;
    for (const std::uint8_t b : std::bit_cast<std::array<std::uint8_t, 4>>(scale)) bytes.push_back(b);
    if (kind == 1) bytes.push_back(static_cast<std::uint8_t>(c.number(0, 15)));
    for (int j = 0; j < 16; ++j) bytes.push_back(static_cast<std::uint8_t>(c.number(0, 255)));
  }
  c.input(c.floats({c.number(1, 3), k}));
  c.weight(Tensor::of<std::uint8_t>({std::ssize(bytes)}, bytes));
  c.weight(Tensor::of<std::int64_t>({2}, {k, n}));
  c.attribute({"blk_quant_type", AttrValue(kind)});
  c.scale = 1e-3;
}

/// Of the operators drawn elsewhere.
VendorOperator in_type(std::string_view op, DType floats) {
  for (const auto* all : {&vendor_operators(), &vendor_quantized_operators(), &vendor_sequence_operators()})
    for (VendorOperator one : *all)
      if (one.op == op) {
        one.floats = floats;
        return one;
      }
  return {};
}

}  // namespace

const std::vector<VendorOperator>& vendor_state_operators() {
  static const std::vector<VendorOperator> all = [] {
    std::vector<VendorOperator> made = {
        {"AttnLSTM", attn_lstm},
        {"BifurcationDetector", bifurcation_detector},
        {"CausalConvWithState", causal_conv_with_state},
        {"DecoderMaskedMultiHeadAttention", decoder_masked_attention},
        {"GatedAdd", gated_add},
        {"GatedRMSNorm", gated_rms_norm},
        {"LinearAttention", linear_attention},
        {"LinearAttentionGate", linear_attention_gate},
        {"MRotaryEmbedding", m_rotary_embedding},
        {"MatMulFpQ4", matmul_fp_q4},
        {"MatMulInteger16", matmul_integer16},
        {"MaxpoolWithMask", maxpool_with_mask},
        {"SparseAttention", sparse_attention},
        {"SparseAttention", sparse_attention, "com.microsoft", DType::f16},
        {"WordConvEmbedding", word_conv_embedding},
    };
    // Inverse computes in half precision there, which says little of badly conditioned matrices.
    for (const char* op :
         {"GroupQueryAttention", "MatMulNBits", "QMoE", "RotaryEmbedding", "SimplifiedLayerNormalization",
          "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
      made.push_back(in_type(op, DType::f16));
    for (const char* op : {"CDist", "FusedMatMul", "Inverse", "Range", "SimplifiedLayerNormalization", "Trilu"})
      made.push_back(in_type(op, DType::f64));
    return made;
  }();
  return all;
}

}  // namespace ingot::test
