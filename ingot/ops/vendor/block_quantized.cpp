// com.microsoft: products and look-ups with weights that are quantised in blocks.
#include <array>

#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/packed_bits.h"

namespace ingot::ops {

Value* unpacked(GraphBuilder& g, Value* bytes, std::int64_t bits) {
  if (bits == 8) return bytes;
  const std::int64_t rank = std::ssize(*bytes->type.shape);
  const auto number = [&](std::int64_t n) {
    return g.constant(Tensor::scalar<std::uint8_t>(static_cast<std::uint8_t>(n)));
  };
  Value* wide = g.unsqueeze(bytes, {rank});
  Values parts;
  for (std::int64_t shift = 0; shift < 8; shift += bits) {
    Value* moved = shift ? g.op("BitShift", {wide, number(shift)}, {{"direction", "RIGHT"}}) : wide;
    parts.push_back(g.op("BitwiseAnd", {moved, number((1 << bits) - 1)}));
  }
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank), 0);
  dims.back() = -1;
  return g.reshape(g.concat(parts, rank), dims);
}

namespace {

/// Rows of elements, lowest bits first, each row in whole bytes.
std::vector<std::uint8_t> packed_rows(std::int64_t rows, std::int64_t width, std::int64_t bits,
                                      const ElementOfRow& element) {
  const std::int64_t stride = (width * bits + 7) / 8;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(rows * stride));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < width; ++i) {
      auto& byte = bytes[static_cast<std::size_t>(row * stride + i * bits / 8)];
      byte = static_cast<std::uint8_t>(byte | element(row, i) << (i * bits % 8));
    }
  return bytes;
}

}  // namespace

Tensor packed_weights(const NBits& b, const ElementOfRow& element) {
  const auto filled = [&](std::int64_t row, std::int64_t i) { return i < b.k ? element(row, i) : b.middle(); };
  return Tensor::of<std::uint8_t>({b.n, b.count(), b.size * b.bits / 8},
                                  packed_rows(b.n, b.count() * b.size, b.bits, filled));
}

Tensor packed_zeros(const NBits& b, const ElementOfRow& zero) {
  const std::vector<std::uint8_t> bytes = packed_rows(b.n, b.count(), b.bits, zero);
  return Tensor::of<std::uint8_t>({std::ssize(bytes)}, bytes);
}

namespace {

std::optional<NBits> blocks_of(const Node& node) {
  const NBits b{node.attributes.int_or("K", 0), node.attributes.int_or("N", 0), node.attributes.int_or("bits", 4),
                node.attributes.int_or("block_size", 0)};
  constexpr std::int64_t kMost = std::int64_t{1} << 28;  // rows, columns, and blocks in all
  const auto fits = [](std::int64_t n) { return n > 0 && n <= kMost; };
  const bool is_right = fits(b.k) && fits(b.n) && fits(b.size) && fits(b.n * b.count()) && is_packing(b.bits);
  return is_right ? std::optional(b) : std::nullopt;
}

void infer_matmul_nbits(InferContext& c) {
  const auto blocks = blocks_of(c.node());
  const Shape* a = c.shape(0);
  if (!blocks || !a || a->empty()) return;
  Shape y = *a;
  y.back() = Dim(blocks->n);
  c.out_shape(0, y);
}

/// [N, blocks * size], a byte or four bits each.
Value* weights_of(DecomposeContext& c, const NBits& b) {
  const Tensor* constant = c.constant(1);
  if (constant && b.bits == 4 && constant->dtype() == DType::u8 && constant->size() == b.n * b.count() * b.size / 2)
    return c.g.constant(Tensor(DType::u4, {b.n, b.count() * b.size}, constant->bytes()));
  Value* bytes = c.g.reshape(c.in(1), {b.n, b.count(), b.size * b.bits / 8});
  return c.g.reshape(unpacked(c.g, bytes, b.bits), {b.n, b.count() * b.size});
}

/// [N, blocks] of the weights' type: as stored, packed row by row, or the middle of the range.
Value* zeros_of(DecomposeContext& c, const NBits& b, DType dtype) {
  if (c.has(3)) {
    const std::int64_t row = (b.count() * b.bits + 7) / 8;
    Value* all = unpacked(c.g, c.g.reshape(c.in(3), {b.n, row}), b.bits);
    Value* used = row * 8 / b.bits == b.count() ? all : slice(c.g, all, 1, 0, b.count());
    return c.g.cast(used, dtype);
  }
  const auto middle = static_cast<std::uint8_t>(1 << (b.bits - 1));
  const auto elements = static_cast<std::size_t>(b.n * b.count());
  if (dtype == DType::u8)
    return c.g.constant(Tensor::of<std::uint8_t>({b.n, b.count()}, std::vector<std::uint8_t>(elements, middle)));
  const std::vector<std::uint8_t> pairs((elements + 1) / 2, 0x88);
  return c.g.constant(Tensor(DType::u4, {b.n, b.count()}, Bytes::copy(std::as_bytes(std::span(pairs)))));
}

/// Numbers of each block for each of its elements: [N, K].
Value* by_element(DecomposeContext& c, const NBits& b, Value* of_blocks) {
  if (c.has(4)) return c.g.op("Gather", {of_blocks, c.in(4)}, {{"axis", 1}});
  Value* copies = c.g.op("Tile", {c.g.unsqueeze(of_blocks, {2}), c.g.ints({1, 1, b.size})});
  return slice(c.g, c.g.reshape(copies, {b.n, b.count() * b.size}), 1, 0, b.k);
}

Values matmul_nbits(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto blocks = blocks_of(c.node);
  if (!blocks || c.attr("weight_prepacked", std::int64_t{0}) || c.elem(0) == DType::undefined) return {};
  const NBits& b = *blocks;
  Value* scales = g.reshape(c.in(2), {b.n, b.count()});
  Value* integers = weights_of(c, b);
  const bool is_ordered = c.has(4), has_float_zeros = c.has(3) && c.elem(3) != DType::u8;
  const bool is_cut = b.count() * b.size != b.k;
  Value* w = nullptr;
  if (!is_ordered && !has_float_zeros) {
    w = g.op("DequantizeLinear", {integers, scales, zeros_of(c, b, integers->type.elem)},
             {{"axis", 1}, {"block_size", b.size}});
    if (is_cut) w = slice(g, w, 1, 0, b.k);
  } else {
    Value* numbers = g.cast(integers, c.elem(0));
    if (is_cut) numbers = slice(g, numbers, 1, 0, b.k);
    Value* zeros =
        has_float_zeros ? g.reshape(c.in(3), {b.n, b.count()}) : g.cast(zeros_of(c, b, DType::u8), c.elem(0));
    w = g.mul(g.sub(numbers, by_element(c, b, zeros)), by_element(c, b, scales));
  }
  Value* y = g.op("MatMul", {c.in(0), g.transpose(w, {1, 0})});
  return {c.has(5) ? g.add(y, c.in(5)) : y};
}

/// The first of two elements is in the high bits; what four bits mean is a table.
Values matmul_bnb4(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t k = c.attr("K", std::int64_t{0}), n = c.attr("N", std::int64_t{0}),
                     size = c.attr("block_size", std::int64_t{0}), most = std::int64_t{1} << 28;
  if (k <= 0 || n <= 0 || size <= 0 || k > most || n > most || size > most || c.attr("transB", std::int64_t{1}) == 0)
    return {};
  static constexpr float kFp4[] = {0.0f,         0.0052083333f, 0.66666667f,  1.0f,           0.33333333f,  0.5f,
                                   0.16666667f,  0.25f,         -0.0f,        -0.0052083333f, -0.66666667f, -1.0f,
                                   -0.33333333f, -0.5f,         -0.16666667f, -0.25f};
  static constexpr float kNf4[] = {-1.0f,
                                   -0.6961928009986877f,
                                   -0.5250730514526367f,
                                   -0.39491748809814453f,
                                   -0.28444138169288635f,
                                   -0.18477343022823334f,
                                   -0.09105003625154495f,
                                   0.0f,
                                   0.07958029955625534f,
                                   0.16093020141124725f,
                                   0.24611230194568634f,
                                   0.33791524171829224f,
                                   0.44070982933044434f,
                                   0.5626170039176941f,
                                   0.7229568362236023f,
                                   1.0f};
  const auto table = std::span<const float>(c.attr("quant_type", std::int64_t{0}) == 1 ? kNf4 : kFp4);
  const std::int64_t bytes = (n * k + 1) / 2;
  Value* pairs = g.reshape(c.in(1), {bytes, 1});
  const auto number = [&](std::uint8_t v) { return g.constant(Tensor::scalar<std::uint8_t>(v)); };
  Value* high = g.op("BitShift", {pairs, number(4)}, {{"direction", "RIGHT"}});
  Value* codes = g.reshape(g.concat({high, g.op("BitwiseAnd", {pairs, number(15)})}, 1), {2 * bytes});
  if (n * k % 2 != 0) codes = slice(g, codes, 0, 0, n * k);
  Value* numbers = g.op("Gather", {g.constant(Tensor::of<float>({16}, table)), g.cast(codes, DType::i64)});
  const std::int64_t count = (n * k + size - 1) / size;
  Value* sizes = g.op("Tile", {g.reshape(c.in(2), {count, 1}), g.ints({1, size})});
  Value* scales = slice(g, g.reshape(sizes, {count * size}), 0, 0, n * k);
  Value* w = g.reshape(g.mul(g.cast(numbers, c.elem(2)), scales), {n, k});
  return {g.op("MatMul", {c.in(0), g.transpose(w, {1, 0})})};
}

Values gather_block_quantized(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0);
  if (!rank || *rank == 0 || c.elem(0) == DType::undefined || c.rank(2) != rank) return {};
  if (c.has(3) && c.rank(3) != rank) return {};
  const bool is_packed = c.elem(0) == DType::u8;
  const std::int64_t bits = is_packed ? c.attr("bits", std::int64_t{4}) : 4;
  if (!is_packing(bits)) return {};
  const std::int64_t given = c.attr("quantize_axis", std::int64_t{1}), axis = given < 0 ? given + *rank : given;
  Value *data = c.in(0), *zeros = c.in(3);
  if (is_packed) {
    data = unpacked(g, data, bits);
    if (zeros) {
      const auto count = last_size(c.in(2));
      if (!count) return {};
      zeros = slice(g, unpacked(g, zeros, bits), *rank - 1, 0, *count);
    } else {
      const Tensor middle = Tensor::of<std::uint8_t>({1}, {static_cast<std::uint8_t>(1 << (bits - 1))});
      zeros = g.op("ConstantOfShape", {g.shape(c.in(2))}, {{"value", middle}});
    }
  }
  Value* table = g.op("DequantizeLinear", {data, c.in(2), zeros},
                      {{"axis", axis}, {"block_size", c.attr("block_size", std::int64_t{128})}});
  return {g.op("Gather", {table, c.in(1)}, {{"axis", c.attr("gather_axis", std::int64_t{0})}})};
}

}  // namespace

constinit const OpDef defs::microsoft::GatherBlockQuantized = {
    .name = "GatherBlockQuantized", .domain = kMicrosoft, .infer = infer_by_body, .decompose = gather_block_quantized};
constinit const OpDef defs::microsoft::MatMulBnb4 = {
    .name = "MatMulBnb4", .domain = kMicrosoft, .infer = infer_by_body, .decompose = matmul_bnb4};
constinit const OpDef defs::microsoft::MatMulNBits = {
    .name = "MatMulNBits", .domain = kMicrosoft, .infer = infer_matmul_nbits, .decompose = matmul_nbits};

}  // namespace ingot::ops
