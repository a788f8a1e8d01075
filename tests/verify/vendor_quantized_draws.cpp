// What is drawn of operators on bytes with scales, and on weights of few bits.
#include "tests/verify/vendor_case.h"

namespace ingot::test {
namespace {

using Case = VendorCase;

void matmul_nbits(Case& c) {
  const std::int64_t bits = c.one_of<std::int64_t>({4, 4, 8}), size = c.one_of<std::int64_t>({16, 32});
  const std::int64_t k = c.chance(0.6) ? size * c.number(1, 3) : c.number(5, 70), n = c.number(1, 6);
  const std::int64_t count = (k + size - 1) / size;
  c.input(c.floats({c.number(1, 3), k}));
  c.weight(c.integers(DType::u8, {n, count, size * bits / 8}, 0, 255));
  c.weight(c.floats({n * count}, 0.01, 0.2));
  if (c.chance(0.5)) c.weight(c.integers(DType::u8, {n * ((count * bits + 7) / 8)}, 0, 255));
  c.attribute({"K", AttrValue(k)});
  c.attribute({"N", AttrValue(n)});
  c.attribute({"bits", AttrValue(bits)});
  c.attribute({"block_size", AttrValue(size)});
  c.scale = 1e-3;
}

void matmul_bnb4(Case& c) {
  const std::int64_t size = c.one_of<std::int64_t>({16, 32}), k = c.chance(0.5) ? 16 * c.number(1, 4) : c.number(3, 50),
                     n = c.number(1, 6), elements = k * n;
  c.input(c.floats({c.number(1, 3), k}));
  c.weight(c.integers(DType::u8, {(elements + 1) / 2}, 0, 255));
  c.weight(c.floats({(elements + size - 1) / size}, 0.1, 1));
  c.attribute({"K", AttrValue(k)});
  c.attribute({"N", AttrValue(n)});
  c.attribute({"block_size", AttrValue(size)});
  c.attribute({"quant_type", c.chance(0.5)});
}

void gather_block_quantized(Case& c) {
  const std::int64_t rows = c.number(2, 6), size = 16, width = 16 * c.number(1, 4), count = width / size;
  c.weight(c.integers(DType::u8, {rows, width / 2}, 0, 255));
  c.input(c.integers(c.chance(0.5) ? DType::i64 : DType::i32, {c.number(1, 3), 2}, 0, rows - 1));
  c.weight(c.floats({rows, count}, 0.01, 0.5));
  if (c.chance(0.5)) c.weight(c.integers(DType::u8, {rows, (count + 1) / 2}, 0, 255));
  c.attribute({"block_size", AttrValue(size)});
  c.attribute({"bits", 4});
}

/// Weights. ONNX Runtime adds two products of unsigned with signed bytes in 16 bits, where they saturate, on machines
/// without VNNI: signed weights keep to 7 bits, as its own quantiser does there.
Tensor eight_bits(Case& c, DType dtype, Dims dims) {
  return c.integers(dtype, std::move(dims), dtype == DType::u8 ? 0 : -63, dtype == DType::u8 ? 127 : 63);
}

void dynamic_quantize_matmul(Case& c) {
  const std::int64_t m = c.number(1, 4), k = c.number(2, 9), n = c.number(1, 6);
  const DType dtype = c.chance(0.5) ? DType::u8 : DType::i8;
  const bool by_column = c.chance(0.4);
  c.input(c.floats({m, k}, -2, 3));
  c.weight(eight_bits(c, dtype, {k, n}));
  c.weight(c.floats(by_column ? Dims{n} : Dims{1}, 0.01, 0.1));
  c.weight(c.integers(dtype, by_column ? Dims{n} : Dims{1}, 0, 9));
  if (c.chance(0.5)) c.weight(c.floats({n}));
  c.scale = 1e-3;
}

void matmul_integer_to_float(Case& c) {
  const std::int64_t m = c.number(1, 4), k = c.number(2, 9), n = c.number(1, 6);
  c.input(c.integers(DType::u8, {m, k}, 0, 255));
  const DType dtype = c.chance(0.5) ? DType::u8 : DType::i8;
  c.weight(eight_bits(c, dtype, {k, n}));
  c.weight(c.floats({1}, 0.01, 0.1));
  c.weight(c.floats(c.chance(0.5) ? Dims{n} : Dims{1}, 0.01, 0.1));
  if (c.chance(0.6)) {
    c.weight(c.integers(DType::u8, {1}, 0, 200));
    if (c.chance(0.6)) c.weight(c.integers(dtype, {1}, 0, 20));
  }
}

void q_gemm(Case& c) {
  const std::int64_t m = c.number(1, 4), k = c.number(2, 9), n = c.number(1, 6);
  const bool turns_b = c.chance(0.5), is_rounded = c.chance(0.6);
  c.input(c.integers(DType::u8, {m, k}, 0, 255));
  c.weight(c.floats({}, 0.01, 0.1));
  c.weight(c.integers(DType::u8, {}, 100, 140));
  c.weight(eight_bits(c, DType::i8, turns_b ? Dims{n, k} : Dims{k, n}));
  c.weight(c.floats({}, 0.01, 0.1));
  c.weight(c.integers(DType::i8, {}, 0, 0));
  if (c.chance(0.6))
    c.weight(c.integers(DType::i32, {n}, -99, 99));
  else if (is_rounded)
    c.absent();
  if (is_rounded) {
    c.weight(c.floats({}, 0.5, 1));
    c.weight(c.integers(DType::u8, {}, 100, 140));
  }
  c.attribute({"transB", turns_b});
}

Tensor scale(Case& c) { return c.floats({}, 0.01, 0.1); }

/// Three inputs: bytes, their scale and zero point.
void quantized(Case& c, DType dtype, Dims dims) {
  c.input(c.integers(dtype, std::move(dims), dtype == DType::u8 ? 0 : -128, dtype == DType::u8 ? 255 : 127));
  c.weight(scale(c));
  c.weight(c.integers(dtype, {}, dtype == DType::u8 ? 100 : -20, dtype == DType::u8 ? 140 : 20));
}

void rounded_by(Case& c, DType dtype) {
  c.weight(scale(c));
  c.weight(c.integers(dtype, {}, dtype == DType::u8 ? 100 : -20, dtype == DType::u8 ? 140 : 20));
}

void q_linear_binary(Case& c) {
  const DType dtype = c.chance(0.5) ? DType::u8 : DType::i8;
  const std::int64_t a = c.number(1, 4), b = c.number(1, 9);
  quantized(c, dtype, {a, b});
  quantized(c, dtype, c.chance(0.3) ? Dims{b} : Dims{a, b});
  rounded_by(c, dtype);
}

void q_linear_unary(Case& c) {
  const DType dtype = c.chance(0.5) ? DType::u8 : DType::i8;
  quantized(c, dtype, {c.number(1, 4), c.number(1, 9)});
  rounded_by(c, dtype);
}

void q_linear_softmax(Case& c) {
  const bool is_signed = c.chance(0.5);
  quantized(c, is_signed ? DType::i8 : DType::u8, {c.number(1, 4), c.number(2, 9)});
  c.weight(Tensor::scalar<float>(1.0f / 256));
  c.weight(is_signed ? Tensor::scalar<std::int8_t>(-128) : Tensor::scalar<std::uint8_t>(0));
  c.attribute({"opset", c.chance(0.5) ? 13 : 12});
  c.attribute({"axis", 1});
}

void q_linear_concat(Case& c) {
  const DType dtype = c.chance(0.5) ? DType::u8 : DType::i8;
  rounded_by(c, dtype);
  const std::int64_t rows = c.number(1, 4);
  for (std::int64_t i = c.number(1, 3); i > 0; --i) quantized(c, dtype, {rows, c.number(1, 5)});
  c.attribute({"axis", 1});
}

void q_linear_where(Case& c) {
  const std::int64_t a = c.number(1, 4), b = c.number(1, 9);
  const DType dtype = c.chance(0.5) ? DType::u8 : DType::i8;
  c.input(c.integers(DType::boolean, {a, b}, 0, 1));
  quantized(c, dtype, {a, b});
  quantized(c, dtype, c.chance(0.3) ? Dims{b} : Dims{a, b});
  rounded_by(c, dtype);
}

/// Of one to three axes: how many.
std::int64_t pooled(Case& c) {
  const bool is_last = c.chance(0.5);
  Dims dims;
  for (std::int64_t i = c.number(1, 3); i > 0; --i) dims.push_back(c.number(4, 7));
  const auto axes = std::ssize(dims);
  dims.insert(is_last ? dims.end() : dims.begin(), c.number(1, 4));
  dims.insert(dims.begin(), c.number(1, 2));
  const DType dtype = c.chance(0.5) ? DType::u8 : DType::i8;
  quantized(c, dtype, dims);
  rounded_by(c, dtype);
  c.attribute({"channels_last", is_last});
  return axes;
}

void q_linear_global_average_pool(Case& c) { pooled(c); }

/// Under SAME no stride is longer than the kernel: ONNX Runtime, in ONNX's own pools too, would leave out elements at
/// the beginning.
void windows(Case& c, std::size_t axes) {
  const auto automatic = c.one_of<std::string>({"", "", "", "", "VALID", "SAME_UPPER", "SAME_LOWER"});
  std::vector<std::int64_t> kernel(axes), strides(axes), pads(2 * axes);
  for (std::size_t i = 0; i < axes; ++i) {
    kernel[i] = c.number(1, 4);
    strides[i] = c.number(1, automatic.starts_with("SAME") ? kernel[i] : 4);
    for (const std::size_t side : {i, i + axes}) pads[side] = c.number(0, kernel[i] - 1);
  }
  c.attribute({"kernel_shape", kernel});
  if (c.chance(0.7)) c.attribute({"strides", strides});
  if (!automatic.empty())
    c.attribute({"auto_pad", automatic});
  else if (c.chance(0.6))
    c.attribute({"pads", pads});
  c.attribute({"ceil_mode", c.chance(0.5)});
}

void q_linear_average_pool(Case& c) {
  windows(c, static_cast<std::size_t>(pooled(c)));
  c.attribute({"count_include_pad", c.chance(0.5)});
}

void q_linear_conv(Case& c) {
  const bool is_last = c.chance(0.5);
  const std::int64_t channels = c.number(1, 4), size = c.number(4, 7), filters = c.number(1, 5);
  quantized(c, DType::u8, is_last ? Dims{1, size, size, channels} : Dims{1, channels, size, size});
  c.weight(eight_bits(c, DType::i8, {filters, channels, 3, 3}));
  const Dims dims = c.chance(0.4) ? Dims{filters} : Dims{};
  c.weight(c.floats(dims, 0.01, 0.1));
  c.weight(c.integers(DType::i8, dims, 0, 0));
  c.weight(c.floats({}, 0.3, 0.5));
  c.weight(c.integers(DType::u8, {}, 100, 140));
  if (c.chance(0.5)) c.weight(c.integers(DType::i32, {filters}, -200, 200));
  c.attribute({"channels_last", is_last});
  c.attribute({"kernel_shape", {3, 3}});
}

void nhwc_max_pool(Case& c) {
  c.input(c.integers(DType::u8, {1, c.number(4, 7), c.number(4, 7), c.number(1, 4)}, 0, 255));
  windows(c, 2);
}

void q_embed_layer_normalization(Case& c) {
  const std::int64_t b = c.number(1, 3), s = c.number(1, 5), h = 4 * c.number(1, 4);
  const auto table = [&](Dims dims) { return c.integers(DType::u8, std::move(dims), 0, 255); };
  c.input(c.integers(DType::i32, {b, s}, 0, 10));
  c.input(c.integers(DType::i32, {b, s}, 0, 1));
  c.weight(table({11, h}));
  c.weight(table({9, h}));
  c.weight(table({2, h}));
  c.weight(table({h}));
  c.weight(table({h}));
  c.input(c.integers(DType::i32, {b, s}, 0, 1));
  for (int i = 0; i < 5; ++i) c.weight(scale(c));
  for (int i = 0; i < 5; ++i) c.weight(c.integers(DType::u8, {}, 100, 140));
  c.attribute({"epsilon", 1e-5});
  c.outputs(2);
}

}  // namespace

const std::vector<VendorOperator>& vendor_quantized_operators() {
  static const std::vector<VendorOperator> all = {
      {"DynamicQuantizeMatMul", dynamic_quantize_matmul},
      {"GatherBlockQuantized", gather_block_quantized},
      {"MatMulBnb4", matmul_bnb4},
      {"MatMulIntegerToFloat", matmul_integer_to_float},
      {"MatMulNBits", matmul_nbits},
      {"NhwcMaxPool", nhwc_max_pool},
      {"QEmbedLayerNormalization", q_embed_layer_normalization},
      {"QGemm", q_gemm},
      {"QLinearAdd", q_linear_binary},
      {"QLinearAveragePool", q_linear_average_pool},
      {"QLinearConcat", q_linear_concat},
      {"QLinearConv", q_linear_conv},
      {"QLinearGlobalAveragePool", q_linear_global_average_pool},
      {"QLinearLeakyRelu", q_linear_unary},
      {"QLinearMul", q_linear_binary},
      {"QLinearSigmoid", q_linear_unary},
      {"QLinearSoftmax", q_linear_softmax},
      {"QLinearWhere", q_linear_where},
  };
  return all;
}

}  // namespace ingot::test
