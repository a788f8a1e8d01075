// Weights of 4 or 8 bits stay so small in memory.
#include "ingot/engine/rewrites/keep_bits.h"

#include <array>

#include "ingot/engine/domain.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

/// A matrix of integers and what makes floats of them.
struct Weights {
  Node* node;
  bool is_turned = false;  // its columns are rows of the operand
  std::int64_t block = 0;  // along the rows of the operand
};

bool is_few_bits(DType type) {
  return type == DType::u4 || type == DType::i4 || type == DType::u8 || type == DType::i8;
}

/// How many rows of the operand share a scale; nothing where scales are spread in another way than in blocks of rows.
std::optional<std::int64_t> block_of(const Node& node, const Tensor& integers, const Tensor& scales, bool is_turned) {
  const std::int64_t rows = integers.dims()[is_turned ? 1 : 0], columns = integers.dims()[is_turned ? 0 : 1];
  const std::int64_t size = node.attributes.int_or("block_size", 0), given = node.attributes.int_or("axis", 1);
  const std::int64_t axis = given < 0 ? given + 2 : given;
  if (size == 0) {
    const bool is_by_column = scales.rank() == 1 && scales.size() == columns && axis == (is_turned ? 0 : 1);
    return scales.size() == 1 || is_by_column ? std::optional(rows) : std::nullopt;
  }
  const std::int64_t blocks = (rows + size - 1) / size;
  const Dims wanted = is_turned ? Dims{columns, blocks} : Dims{blocks, columns};
  if (axis != (is_turned ? 1 : 0) || scales.dims() != wanted) return {};
  return size;
}

/// Whether constants are a matrix of integers that a product may read as they are.
bool makes_weights(const Node& node) {
  const Tensor* integers = node.is("DequantizeLinear") ? constant_of(node.input(0)) : nullptr;
  return integers && is_few_bits(integers->dtype()) && integers->rank() == 2 && integers->size() > 0;
}

std::optional<Weights> weights_of(const Value* v, bool is_turned) {
  Node* node = v ? v->producer() : nullptr;
  if (node && node->is("Transpose")) {
    if (node->attributes.ints_or("perm", {1, 0}) != std::vector<std::int64_t>{1, 0}) return {};
    v = node->input(0);
    node = v ? v->producer() : nullptr;
    is_turned = !is_turned;
  }
  if (!node || !makes_weights(*node) || v->type.elem != DType::f32) return {};
  const Tensor &integers = *constant_of(node->input(0)), *scales = constant_of(node->input(1));
  const Tensor* zeros = constant_of(node->input(2));
  if (!scales || scales->dtype() != DType::f32) return {};
  if (node->input(2) && (!zeros || zeros->dtype() != integers.dtype() || zeros->dims() != scales->dims())) return {};
  const auto block = block_of(*node, integers, *scales, is_turned);
  if (!block) return {};
  // Two rows share bytes.
  const std::int64_t rows = integers.dims()[is_turned ? 1 : 0];
  if (bits_of(integers.dtype()) == 4 && (rows % 2 != 0 || *block % 2 != 0)) return {};
  return Weights{node, is_turned, *block};
}

/// Whether it is a product with a bias, at most, of the width of its rows.
bool is_plain_product(const Node& node, const Weights& weights) {
  const Attributes& attributes = node.attributes;
  if (node.is("MatMul")) return true;
  if (attributes.int_or("transA", 0) != 0 || attributes.float_or("alpha", 1) != 1) return false;
  if (!node.input(2)) return true;
  const std::int64_t columns = constant_of(weights.node->input(0))->dims()[weights.is_turned ? 0 : 1];
  const Tensor* bias = constant_of(node.input(2));
  return attributes.float_or("beta", 1) == 1 && bias && bias->dtype() == DType::f32 && bias->rank() >= 1 &&
         bias->size() == columns && bias->dims().back() == columns;
}

}  // namespace

void keep_bits(Graph& graph) {
  std::vector<std::pair<Node*, Weights>> found;
  for (Node& node : graph.nodes()) {
    if ((!node.is("MatMul") && !node.is("Gemm")) || !node.input(0) || node.input(0)->type.elem != DType::f32) continue;
    const auto weights = weights_of(node.input(1), node.attributes.int_or("transB", 0) != 0);
    if (weights && is_plain_product(node, *weights)) found.emplace_back(&node, *weights);
  }
  for (const auto& [product, weights] : found) {
    GraphBuilder g(graph, product);
    Node* made = g.node("Linear", kEngineDomain,
                        {product->input(0), weights.node->input(0), product->input(2), nullptr, weights.node->input(1),
                         weights.node->input(2)},
                        {{"transB", weights.is_turned ? 1 : 0}, {"block", weights.block}}, 1);
    made->name = names_of(std::array{product});
    made->output(0)->type = product->output(0)->type;
    graph.replace_all_uses(product->output(0), made->output(0));
    graph.erase(product);
  }
}

}  // namespace ingot::engine
