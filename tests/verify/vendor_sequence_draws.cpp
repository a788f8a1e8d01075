// What is drawn of operators over sequences and tokens, most of which plain ONNX does not define.
#include "tests/verify/vendor_case.h"

namespace ingot::test {
namespace {

using Case = VendorCase;

void dynamic_quantize_lstm(Case& c) {
  const std::int64_t steps = c.number(1, 5), batch = c.number(1, 3), in = 4 * c.number(1, 3),
                     hidden = 4 * c.number(1, 3);
  const std::string direction = c.one_of<std::string>({"forward", "reverse", "bidirectional"});
  const std::int64_t dirs = direction == "bidirectional" ? 2 : 1, columns = 4 * hidden;
  const bool is_by_column = c.chance(0.5), is_signed = c.chance(0.5);
  const auto weights = [&](std::int64_t rows) {
    c.weight(is_signed ? c.integers(DType::i8, {dirs, rows, columns}, -63, 63)  // more saturates in ONNX Runtime
                       : c.integers(DType::u8, {dirs, rows, columns}, 0, 255));
  };
  const auto scales = [&] {
    const Dims dims = is_by_column ? Dims{dirs, columns} : Dims{dirs};
    c.weight(c.floats(dims, 0.002, 0.01));
    c.weight(is_signed ? c.integers(DType::i8, dims, 0, 0) : c.integers(DType::u8, dims, 127, 129));
  };
  c.input(c.floats({steps, batch, in}));
  weights(in);
  weights(hidden);
  if (c.chance(0.7))
    c.weight(c.floats({dirs, 2 * columns}));
  else
    c.absent();
  c.absent();  // sequence_lens
  const bool has_states = c.chance(0.5);
  for (int i = 0; i < 2; ++i)
    if (has_states)
      c.input(c.floats({dirs, batch, hidden}));
    else
      c.absent();
  c.absent();  // peepholes
  scales();
  scales();
  c.attribute({"hidden_size", static_cast<int>(hidden)});
  c.attribute({"direction", direction.c_str()});
  if (c.chance(0.3)) c.attribute({"clip", 0.5f});
  c.outputs(3);
  c.scale = 1e-2;  // a state that is rounded the other way moves those behind it
}

void inverse(Case& c) {
  const std::int64_t n = c.number(1, 5);
  c.input(c.floats({c.number(1, 3), n, n}, -3, 3));
  c.scale = 1e-3;
}

void n_gram_repeat_block(Case& c) {
  const std::int64_t batch = c.number(1, 3), vocabulary = 8;
  c.input(c.integers(DType::i64, {batch, c.number(3, 9)}, 0, 3));
  c.input(c.floats({batch, vocabulary}));
  c.attribute({"ngram_size", static_cast<int>(c.number(1, 3))});
}

void dynamic_time_warping(Case& c) { c.input(c.floats({1, c.number(1, 6), c.number(1, 9)}, 0, 3)); }

void murmur_hash(Case& c) {
  c.input(c.integers(c.one_of<DType>({DType::i32, DType::i64, DType::u32}), {c.number(1, 9)}, 0, 1000));
  c.attribute({"seed", static_cast<int>(c.number(0, 5))});
  if (c.chance(0.5)) c.attribute({"positive", static_cast<int>(c.number(0, 1))});
}

void quantize_linear(Case& c) {
  const std::int64_t channels = c.number(1, 5);
  const bool is_by_channel = c.chance(0.5);
  const DType type = c.one_of<DType>({DType::u8, DType::i8, DType::u16, DType::i16});
  const Dims dims = is_by_channel ? Dims{channels} : Dims{};
  c.input(c.floats({c.number(1, 3), channels, c.number(1, 4)}, -4, 4));
  c.weight(c.floats(dims, 0.01, 0.1));
  c.weight(c.integers(type, dims, 0, 50));
  if (is_by_channel) c.attribute({"axis", 1});
}

void dequantize_linear(Case& c) {
  const std::int64_t channels = c.number(1, 5);
  const bool is_by_channel = c.chance(0.5);
  const DType type = c.one_of<DType>({DType::u8, DType::i8, DType::u16, DType::i16});
  const Dims dims = is_by_channel ? Dims{channels} : Dims{};
  c.input(c.integers(type, {c.number(1, 3), channels, c.number(1, 4)}, 0, 120));
  c.weight(c.floats(dims, 0.01, 0.1));
  c.weight(c.integers(type, dims, 0, 50));
  if (is_by_channel) c.attribute({"axis", 1});
}

/// Experts of 4 or 8 bits, with a scale for each row, and maybe a zero point.
void q_moe(Case& c) {
  const std::int64_t rows = c.number(1, 4), width = 16 * c.number(1, 2), inner = 16 * c.number(1, 2),
                     experts = c.number(2, 4);
  const std::int64_t bits = c.one_of<std::int64_t>({4, 8});
  const std::string activation = c.one_of<std::string>({"relu", "silu", "identity"});
  c.input(c.floats({rows, width}));
  c.input(c.floats({rows, experts}, -2, 2));
  c.weight(c.integers(DType::u8, {experts, inner, width * bits / 8}, 0, 255));
  c.weight(c.floats({experts, inner}, 0.005, 0.02));
  const bool has_bias = c.chance(0.5);
  if (has_bias)
    c.weight(c.floats({experts, inner}));
  else
    c.absent();
  c.weight(c.integers(DType::u8, {experts, width, inner * bits / 8}, 0, 255));
  c.weight(c.floats({experts, width}, 0.005, 0.02));
  if (has_bias) c.weight(c.floats({experts, width}));
  if (c.chance(0.4)) {
    while (c.input_count() < 11) c.absent();
    c.weight(c.integers(DType::u8, {experts, inner * bits / 8}, 0, 255));
    c.weight(c.integers(DType::u8, {experts, width * bits / 8}, 0, 255));
  }
  c.attribute({"k", static_cast<int>(c.number(1, 2))});
  c.attribute({"expert_weight_bits", static_cast<int>(bits)});
  c.attribute({"activation_type", activation.c_str()});
  c.attribute({"normalize_routing_weights", 1});
  c.scale = 1e-3;
}

}  // namespace

const std::vector<VendorOperator>& vendor_sequence_operators() {
  static const std::vector<VendorOperator> all = {
      {"DequantizeLinear", dequantize_linear},
      {"DynamicQuantizeLSTM", dynamic_quantize_lstm},
      {"DynamicTimeWarping", dynamic_time_warping},
      {"Inverse", inverse},
      {"MurmurHash3", murmur_hash},
      {"NGramRepeatBlock", n_gram_repeat_block},
      {"QMoE", q_moe},
      {"QuantizeLinear", quantize_linear},
  };
  return all;
}

}  // namespace ingot::test
