// Products of quantised operands, by integers: DQ(x, s, z) * DQ(w, t, u) = (x - z) * (w - u) * (s * t).
#include "ingot/lower/integer_products.h"

#include <algorithm>
#include <optional>

#include "ingot/ops/builder.h"
#include "ingot/ops/math/wider_type.h"

namespace ingot::lower {
namespace {

/// Bytes that a DequantizeLinear makes floats of.
struct Quantized {
  Value *values, *scale, *zero;
  bool is_by_axis = false;
};

/// Whether a zero point is 0 in all its elements.
bool is_nothing(const Value* zero) {
  if (!zero || !zero->initializer) return !zero;
  const std::vector<std::int64_t> points = zero->initializer->to_ints();
  return std::ranges::all_of(points, [](std::int64_t p) { return p == 0; });
}

/// `axis`: the one along which scales may differ; none: there is one scale for all.
std::optional<Quantized> quantized(const Value* v, std::optional<std::int64_t> axis) {
  const Node* node = v ? v->producer() : nullptr;
  if (!node || !node->is("DequantizeLinear") || node->attributes.int_or("block_size", 0) != 0) return std::nullopt;
  Quantized q{node->input(0), node->input(1), is_nothing(node->input(2)) ? nullptr : node->input(2)};
  if (!q.values || !q.scale || q.scale->type.elem != DType::f32 || v->type.elem != DType::f32) return std::nullopt;
  if (q.values->type.elem != DType::i8 && q.values->type.elem != DType::u8) return std::nullopt;
  const auto &dims = q.values->type.shape, &scales = q.scale->type.shape;
  if (!dims || !scales || scales->size() > 1) return std::nullopt;
  q.is_by_axis = scales->size() == 1 && (*scales)[0].as_int() != 1;
  if (!q.is_by_axis) return q;
  const auto rank = static_cast<std::int64_t>(dims->size());
  const std::int64_t stated = node->attributes.int_or("axis", 1);
  return axis && (stated < 0 ? stated + rank : stated) == *axis ? std::optional(q) : std::nullopt;
}

std::size_t rank_of(const Value* v) { return v->type.shape ? v->type.shape->size() : 0; }

/// A list along axis 1 of [1, n, 1, ...].
Value* along_channels(GraphBuilder& g, Value* list, std::size_t rank) {
  std::vector<std::int64_t> dims(rank, 1);
  dims[1] = -1;
  return g.reshape(list, dims);
}

Value* scaled(GraphBuilder& g, Value* sums, Value* scale) { return g.mul(g.cast(sums, DType::f32), scale); }

Value* conv(GraphBuilder& g, const Node& node) {
  const auto x = quantized(node.input(0), std::nullopt), w = quantized(node.input(1), 0);
  if (!x || !w || rank_of(x->values) < 3) return nullptr;
  const std::size_t rank = rank_of(x->values);
  Value* sums = g.op("ConvInteger", {x->values, w->values, x->zero, w->zero}, ops::attributes_of(node));
  Value* scale = g.mul(x->scale, w->scale);
  Value* y = scaled(g, sums, w->is_by_axis ? along_channels(g, scale, rank) : scale);
  return node.input(2) ? g.add(y, along_channels(g, node.input(2), rank)) : y;
}

Value* matmul(GraphBuilder& g, const Node& node) {
  const auto a = quantized(node.input(0), std::nullopt), b = quantized(node.input(1), 1);
  if (!a || !b || rank_of(a->values) < 2 || rank_of(b->values) != 2) return nullptr;
  return scaled(g, g.op("MatMulInteger", {a->values, b->values, a->zero, b->zero}), g.mul(a->scale, b->scale));
}

Value* gemm(GraphBuilder& g, const Node& node) {
  const bool turns_a = node.attributes.int_or("transA", 0) != 0, turns_b = node.attributes.int_or("transB", 0) != 0;
  const auto a = quantized(node.input(0), std::nullopt), b = quantized(node.input(1), turns_b ? 0 : 1);
  if (!a || !b) return nullptr;
  const auto turned = [&](Value* v, bool turns) { return turns ? g.transpose(v, {1, 0}) : v; };
  Value* sums = g.op("MatMulInteger", {turned(a->values, turns_a), turned(b->values, turns_b), a->zero, b->zero});
  Value* y = scaled(g, sums, g.mul(a->scale, b->scale));
  const float alpha = node.attributes.float_or("alpha", 1), beta = node.attributes.float_or("beta", 1);
  if (alpha != 1) y = g.mul(y, static_cast<double>(alpha));
  if (!node.input(2) || beta == 0) return y;
  return g.add(y, beta == 1 ? node.input(2) : g.mul(node.input(2), static_cast<double>(beta)));
}

Value* by_integers(GraphBuilder& g, const Node& node) {
  if (node.is("Conv")) return conv(g, node);
  if (node.is("MatMul")) return matmul(g, node);
  if (node.is("Gemm")) return gemm(g, node);
  return nullptr;
}

}  // namespace

void use_integer_products(Graph& graph) {
  for_each_graph(graph, [](Graph& g) {
    std::vector<Node*> nodes;
    for (Node& node : g.nodes()) nodes.push_back(&node);
    for (Node* node : nodes) {
      GraphBuilder builder(g, node);
      builder.name_after(*node);
      if (Value* made = by_integers(builder, *node)) replace_node(*node, {made});
    }
  });
}

}  // namespace ingot::lower
