// Products with weights that are stored in blocks of few bits become MatMulNBits.
#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/ops/vendor/packed_bits.h"
#include "ingot/passes/fuse/fusions.h"

namespace ingot::passes::fuse {
namespace {

/// A weight of rows of outputs, or of columns.
struct Blocks {
  ops::NBits form{};
  const Tensor *integers = nullptr, *scales = nullptr, *zeros = nullptr;
  bool is_by_row = false;

  /// Of the weight, or of what its blocks have.
  std::int64_t place(std::int64_t row, std::int64_t i, std::int64_t length) const {
    return is_by_row ? row * length + i : i * form.n + row;
  }
};

std::optional<Blocks> blocks_of(const Value* weight, bool is_by_row) {
  if (const Node* turn = maker(weight, "Transpose"); turn && has_perm(*turn, {1, 0})) {
    weight = turn->input(0);
    is_by_row = !is_by_row;
  }
  const Node* stored = maker(weight, "DequantizeLinear");
  if (!stored || rank_of(weight) != 2 || !is_float_tensor(weight)) return std::nullopt;
  const std::int64_t size = stored->attributes.int_or("block_size", 0), given = stored->attributes.int_or("axis", 1),
                     axis = given < 0 ? given + 2 : given, summed = is_by_row ? 1 : 0;
  if (size < 16 || size > 256 || (size & (size - 1)) != 0 || axis != summed) return std::nullopt;
  Blocks b;
  b.integers = ops::constant_of(stored->input(0));
  b.scales = ops::constant_of(stored->input(1));
  b.zeros = ops::constant_of(stored->input(2));
  b.is_by_row = is_by_row;
  if (!b.integers || !b.scales || b.scales->dtype() != DType::f32 || (stored->input(2) && !b.zeros))
    return std::nullopt;
  const DType dtype = b.integers->dtype();
  const bool is_small = dtype == DType::i4 || dtype == DType::u4;
  if (!is_small && dtype != DType::i8 && dtype != DType::u8) return std::nullopt;
  const Dims& dims = b.integers->dims();
  b.form = {dims[static_cast<std::size_t>(summed)], dims[static_cast<std::size_t>(1 - summed)], is_small ? 4 : 8, size};
  if (b.scales->size() != b.form.n * b.form.count()) return std::nullopt;
  return b;
}

/// The inputs behind the first: integers, scales, zero points unless all are in the middle.
Values inputs_of(GraphBuilder& g, const Blocks& b) {
  const DType dtype = b.integers->dtype();
  const std::int64_t shift = dtype == DType::i4 || dtype == DType::i8 ? b.form.middle() : 0;
  const std::vector<std::int64_t> integers = b.integers->to_ints();
  const std::vector<std::int64_t> zeros = b.zeros ? b.zeros->to_ints() : std::vector<std::int64_t>{};
  const auto zero = [&](std::int64_t row, std::int64_t block) {
    return shift + (b.zeros ? zeros[static_cast<std::size_t>(b.place(row, block, b.form.count()))] : 0);
  };
  const std::vector<float> stored = b.scales->to_vector<float>();
  std::vector<float> scales;
  bool is_middle = true;
  for (std::int64_t row = 0; row < b.form.n; ++row)
    for (std::int64_t block = 0; block < b.form.count(); ++block) {
      scales.push_back(stored[static_cast<std::size_t>(b.place(row, block, b.form.count()))]);
      is_middle = is_middle && zero(row, block) == b.form.middle();
    }
  const Tensor bytes = ops::packed_weights(b.form, [&](std::int64_t row, std::int64_t i) {
    return shift + integers[static_cast<std::size_t>(b.place(row, i, b.form.k))];
  });
  return {g.constant(bytes), g.constant(Tensor::of<float>({b.form.n, b.form.count()}, scales)),
          is_middle ? nullptr : g.constant(ops::packed_zeros(b.form, zero))};
}

/// A bias of one row goes in; another is added behind.
void replace(Node& node, const Blocks& b, Value* bias) {
  GraphBuilder g(node.graph(), &node);
  g.name_after(node);
  const Values stored = inputs_of(g, b);
  const bool is_row = bias && rank_of(bias) == 1 && same(dim_of(bias, 0), Dim(b.form.n));
  Value* made = add_microsoft(g, "MatMulNBits",
                              {node.input(0), stored[0], stored[1], stored[2], nullptr, is_row ? bias : nullptr},
                              {{"K", b.form.k}, {"N", b.form.n}, {"bits", b.form.bits}, {"block_size", b.form.size}})
                    ->output(0);
  made->type = node.output()->type;
  replace_node(node, {bias && !is_row ? g.add(made, bias) : made});
}

bool fuse_matmul(Node& node) {
  if (!is_float_tensor(node.input(0)) || rank_of(node.input(0)) < 2) return false;
  const auto blocks = blocks_of(node.input(1), false);
  if (!blocks) return false;
  replace(node, *blocks, nullptr);
  return true;
}

bool fuse_gemm(Node& node) {
  const Attributes& a = node.attributes;
  if (a.float_or("alpha", 1) != 1 || a.float_or("beta", 1) != 1 || a.int_or("transA", 0) ||
      !is_float_tensor(node.input(0)))
    return false;
  const auto blocks = blocks_of(node.input(1), a.int_or("transB", 0) != 0);
  if (!blocks) return false;
  replace(node, *blocks, node.input(2));
  return true;
}

constexpr Fusion kFusions[] = {
    {"MatMulNBits", "MatMul", fuse_matmul},
    {"MatMulNBits", "Gemm", fuse_gemm},
};

}  // namespace

std::span<const Fusion> block_fusions() { return kFusions; }

}  // namespace ingot::passes::fuse
