// FlexAttention: attention whose scores and probabilities are modified by graphs that the node carries.
#include <cmath>

#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/heads.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

/// The type of scores and probabilities; nothing when attribute softmax_precision names no floating-point type.
std::optional<DType> precision_of(const Attributes& attributes, DType elem) {
  const auto* stated = attributes.get<std::int64_t>("softmax_precision");
  if (!stated) return elem == DType::f64 ? DType::f64 : DType::f32;
  for (const DType allowed : {DType::f32, DType::f16, DType::bf16, DType::f64})
    if (*stated == static_cast<std::int64_t>(allowed)) return allowed;
  return std::nullopt;
}

void infer(InferContext& c) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) require_rank(c, i, 4, "an input");
  const auto precision = precision_of(c.node().attributes, c.elem(0));
  if (!precision) c.fail("attribute 'softmax_precision' is no floating-point type");
  const Dim q_heads = c.dim(0, 1);
  const Dim kv_heads = agree(c, c.dim(1, 1), c.dim(2, 1), "the number of heads of key and value");
  const Dim length = agree(c, c.dim(1, 2), c.dim(2, 2), "the length of key and value");
  agree(c, c.dim(0, 3), c.dim(1, 3), "the head size of query and key");
  Dim batch = agree(c, c.dim(0, 0), c.dim(1, 0), "the batch size");
  batch = agree(c, batch, c.dim(2, 0), "the batch size");
  if (q_heads.is_known() && kv_heads.is_known() && (kv_heads.value() < 1 || q_heads.value() % kv_heads.value()))
    c.fail(q_heads.str() + " heads of the query cannot share " + kv_heads.str() + " heads of the key");
  const Type scores = Type::tensor(*precision, Shape{batch, q_heads, c.dim(0, 2), length});
  for (const char* name : {"score_mod", "prob_mod"}) {
    const auto* graph = c.node().attributes.get<GraphPtr>(name);
    if (!graph || !*graph) continue;
    if ((*graph)->inputs().size() != 1 || (*graph)->output_count() != 1)
      c.fail("graph '" + std::string(name) + "' must have one input and one output");
    const auto made = c.subgraph(name, {scores});
    std::string why;
    if (!made.empty() && !may_match(made.front(), scores, &why))
      c.fail("graph '" + std::string(name) + "' changes the type or shape of its input: " + why);
  }
  c.out_shape(0, {batch, q_heads, c.dim(0, 2), c.dim(2, 3)});
}

/// Puts the nodes of a modifier with one input and one output where the builder stands; null: it cannot.
Value* inlined(GraphBuilder& g, const Graph& modifier, Value* x) {
  if (modifier.inputs().size() != 1 || modifier.output_count() != 1) return nullptr;
  Graph::ValueMap map;
  for (Value* stored : modifier.initializers()) {
    if (!stored->initializer) return nullptr;
    map[stored] = g.constant(*stored->initializer);
  }
  map[modifier.inputs()[0]] = x;
  InferSession session;
  for (const Node& node : modifier.nodes()) infer_node(*g.graph().add_copy(node, map, g.before()), session);
  const auto it = map.find(modifier.output(0));
  if (it != map.end()) return it->second;
  return modifier.output(0) && &modifier.output(0)->graph() != &modifier ? modifier.output(0) : nullptr;
}

Value* modified(DecomposeContext& c, const char* name, Value* x) {
  const auto* graph = c.node.attributes.get<GraphPtr>(name);
  return graph && *graph ? inlined(c.g, **graph, x) : x;
}

Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  Value *q = c.in(0), *k = c.in(1), *v = c.in(2);
  const DType elem = c.elem(0);
  const auto precision = precision_of(c.node.attributes, elem);
  if (!q || !k || !v || elem == DType::undefined || !precision) return {};
  Value* keys = share_heads(g, k, stated_size(k, 1), q, stated_size(q, 1));
  Value* values = share_heads(g, v, stated_size(v, 1), q, stated_size(q, 1));
  Value* scale = nullptr;  // of both factors: its root
  if (const auto* given = c.node.attributes.get<float>("scale")) {
    scale = g.scalar(static_cast<double>(std::sqrt(*given)), elem);
  } else {
    Value* size = g.cast(g.squeeze(size_along(g, q, 3), {0}), DType::f32);
    scale = g.cast(g.op("Sqrt", {g.op("Reciprocal", {g.op("Sqrt", {size})})}), elem);
  }
  Value* scores = g.op("MatMul", {g.mul(q, scale), g.transpose(g.mul(keys, scale), {0, 1, 3, 2})});
  scores = modified(c, "score_mod", g.cast(scores, *precision));
  if (!scores) return {};
  Value* weights = modified(c, "prob_mod", g.op("Softmax", {scores}, {{"axis", 3}}));
  if (!weights) return {};
  return {g.cast(g.op("MatMul", {weights, g.cast(values, *precision)}), elem)};
}

}  // namespace

constinit const OpDef defs::FlexAttention = {
    .name = "FlexAttention",
    .domain = "ai.onnx.preview",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
