// com.microsoft.MatMulFpQ4: a product with weights of four bits in blocks of 32, packed with their scales.
#include <cstring>

#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

constexpr std::int64_t kBlock = 32;

/// The columns of the weight one after the other, each in blocks: a float, a zero point of the second kind, and 16
/// bytes whose low halves are the first 16 elements.
struct FloatBlocks {
  std::vector<float> scales;
  std::vector<std::uint8_t> zeros, integers;
};

FloatBlocks unpacked_blocks(std::span<const std::byte> bytes, std::int64_t count, bool has_zeros) {
  FloatBlocks made;
  for (std::int64_t i = 0; i < count; ++i) {
    float scale = 0;
    std::memcpy(&scale, bytes.data(), sizeof scale);
    bytes = bytes.subspan(sizeof scale);
    made.scales.push_back(scale);
    made.zeros.push_back(has_zeros ? static_cast<std::uint8_t>(bytes[0]) : 8);
    if (has_zeros) bytes = bytes.subspan(1);
    for (const int shift : {0, 4})
      for (std::size_t k = 0; k < kBlock / 2; ++k)
        made.integers.push_back(static_cast<std::uint8_t>(bytes[k]) >> shift & 15);
    bytes = bytes.subspan(kBlock / 2);
  }
  return made;
}

Tensor in_four_bits(Dims dims, const std::vector<std::uint8_t>& values) {
  std::vector<std::uint8_t> pairs((values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    pairs[i / 2] = static_cast<std::uint8_t>(pairs[i / 2] | (values[i] & 15) << (i % 2 * 4));
  return Tensor(DType::u4, std::move(dims), Bytes::copy(std::as_bytes(std::span(pairs))));
}

Values matmul_fp_q4(DecomposeContext& c) {
  const Tensor *bytes = c.constant(1), *shape = c.constant(2);
  if (!bytes || !shape || shape->size() != 2) return {};
  const std::vector<std::int64_t> sizes = shape->to_ints();
  const std::int64_t k = sizes[0], n = sizes[1], kind = c.attr("blk_quant_type", std::int64_t{1}),
                     each = kBlock / 2 + 4 + (kind != 0);
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (k <= 0 || n <= 0 || k > kMost || n > kMost) return {};
  const std::int64_t blocks = (k + kBlock - 1) / kBlock;
  if (bytes->dtype() != DType::u8 || bytes->size() / each != blocks * n || bytes->size() % each != 0) return {};
  const FloatBlocks b = unpacked_blocks(bytes->bytes().span(), blocks * n, kind != 0);
  GraphBuilder& g = c.g;
  Value* weights =
      g.op("DequantizeLinear",
           {g.constant(in_four_bits({n, blocks * kBlock}, b.integers)),
            g.constant(Tensor::of<float>({n, blocks}, b.scales)), g.constant(in_four_bits({n, blocks}, b.zeros))},
           {{"axis", 1}, {"block_size", kBlock}});
  if (blocks * kBlock != k) weights = slice(g, weights, 1, 0, k);
  return {g.op("MatMul", {c.in(0), g.transpose(weights, {1, 0})})};
}

}  // namespace

constinit const OpDef defs::microsoft::MatMulFpQ4 = {
    .name = "MatMulFpQ4", .domain = kMicrosoft, .infer = infer_by_body, .decompose = matmul_fp_q4};

}  // namespace ingot::ops
