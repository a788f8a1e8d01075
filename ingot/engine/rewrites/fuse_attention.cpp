// Attention over heads becomes one node.
#include "ingot/engine/rewrites/fuse_attention.h"

#include <algorithm>

#include "ingot/engine/domain.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ir/array.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

using Perm = std::vector<std::int64_t>;
const Perm kHeadsFirst = {0, 2, 1, 3}, kKeysLast = {0, 2, 3, 1}, kLastTwo = {0, 1, 3, 2};

bool is_float_of_rank_4(const Value* v) {
  return v && v->type.elem == DType::f32 && v->type.shape && v->type.shape->size() == 4;
}

/// What a Transpose by these axes makes the value of; null if something else makes it.
Value* before_transpose(const Value* v, const Perm& perm) {
  const Node* node = v->producer();
  if (!node || !node->is("Transpose") || node->attributes.ints_or("perm", {}) != perm) return nullptr;
  return is_float_of_rank_4(node->input(0)) ? node->input(0) : nullptr;
}

/// Queries, keys or values: [batch, row, head, width], or [batch, head, row, width] where heads come first.
struct Operand {
  Value* value = nullptr;
  bool is_heads_first = false;

  const Dim& dim(std::size_t axis) const {
    const std::size_t swapped = is_heads_first && (axis == 1 || axis == 2) ? 3 - axis : axis;
    return value->type.shape->at(swapped);
  }
};

/// One attention, from its Softmax outwards.
struct Pattern {
  Node *scores = nullptr, *scale_node = nullptr, *sum = nullptr, *softmax = nullptr, *mix = nullptr, *join = nullptr;
  float scale = 1;
  Operand q, k, v;
  Value* mask = nullptr;

  bool match(Node& node) {
    softmax = &node;
    if (!node.is("Softmax") || !is_float_of_rank_4(node.input(0)) || !node.output(0)) return false;
    const std::int64_t axis = node.attributes.int_or("axis", -1);
    if (axis != -1 && axis != 3) return false;
    mix = only_reader(node.output(0));
    if (!mix || !mix->is("MatMul") || mix->input(0) != node.output(0)) return false;
    join = only_reader(mix->output(0));
    if (join && (!join->is("Transpose") || join->attributes.ints_or("perm", {}) != kHeadsFirst)) join = nullptr;
    return match_scores() && match_operands();
  }

  /// A node that only the next one reads.
  Node* before(const Value* value) const {
    Node* node = value ? value->producer() : nullptr;
    return node && &node->graph() == &softmax->graph() && only_reader(value) ? node : nullptr;
  }

  bool match_scores() {
    Node* node = before(softmax->input(0));
    if (node && node->is("Add")) {
      // The mask is the operand that no product makes.
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        Node* other = before(node->input(i));
        if (!other || !(other->is("MatMul") || other->is("Div") || other->is("Mul"))) continue;
        if (!have_same_shape(node->input(i), node->output(0))) continue;
        sum = node;
        mask = node->input(1 - i);
        node = other;
        break;
      }
      if (!sum || !mask || mask->type.elem != DType::f32 || !mask->type.shape || mask->type.shape->size() > 4)
        return false;
    }
    if (node && (node->is("Div") || node->is("Mul"))) {
      const auto number = constant_number(node->input(1), 1);
      if (!number || *number == 0 || constant_of(node->input(1))->rank() > 1) return false;
      scale = node->is("Div") ? 1 / *number : *number;
      scale_node = node;
      node = before(node->input(0));
    }
    scores = node;
    return scores && scores->is("MatMul");
  }

  bool match_operands() {
    Value *queries = before_scale(scores->input(0)), *keys = before_scale(scores->input(1));
    q = operand(queries, kHeadsFirst);
    k = operand(keys, kKeysLast);
    if (k.is_heads_first) k.value = before_transpose(keys, kLastTwo);
    v = operand(mix->input(1), kHeadsFirst);
    if (!q.value || !k.value || !v.value) return false;
    const auto is_same = [](const Operand& a, const Operand& b, std::size_t axis) {
      return same(a.dim(axis), b.dim(axis));
    };
    return is_same(q, k, 0) && is_same(q, v, 0) && is_same(q, k, 2) && is_same(q, v, 2) && is_same(q, k, 3) &&
           is_same(k, v, 1);
  }

  /// What is before a product with a number, which goes into the scale.
  Value* before_scale(Value* value) {
    const Node* node = before(value);
    if (!node || !node->is("Mul")) return value;
    const auto number = constant_number(node->input(1), 1);
    if (!number || constant_of(node->input(1))->rank() > 1 || !is_float_of_rank_4(node->input(0))) return value;
    scale *= *number;
    return node->input(0);
  }

  /// What is before the Transpose that brings heads first, or the value itself.
  static Operand operand(Value* value, const Perm& perm) {
    if (Value* before = before_transpose(value, perm)) return {before, false};
    return {is_float_of_rank_4(value) ? value : nullptr, true};
  }

  void write() const {
    std::vector<Node*> nodes;
    for (Node* node : {scores, scale_node, sum, softmax, mix, join})
      if (node) nodes.push_back(node);
    Graph& graph = softmax->graph();
    Node* last = nodes.back();
    GraphBuilder g(graph, last);
    const std::int64_t heads_first =
        (q.is_heads_first ? 1 : 0) | (k.is_heads_first ? 2 : 0) | (v.is_heads_first ? 4 : 0) | (join ? 0 : 8);
    Node* fused = g.node("Attention", kEngineDomain, {q.value, k.value, v.value, mask},
                         {{"scale", scale}, {"heads_first", heads_first}}, 1);
    fused->name = names_of(nodes);
    fused->output(0)->type = last->output(0)->type;
    std::vector<Node*> makers;
    const auto note_maker = [&](const Value* value) {
      Node* maker = value->producer();
      if (maker && &maker->graph() == &graph && std::ranges::find(makers, maker) == makers.end())
        makers.push_back(maker);
    };
    for (const Value* value : {scores->input(0), scores->input(1), mix->input(1)}) note_maker(value);
    graph.replace_all_uses(last->output(0), fused->output(0));
    for (std::size_t i = nodes.size(); i-- > 0;) graph.erase(nodes[i]);
    // What made the operands as the products wanted them, and nothing else.
    for (std::size_t i = 0; i < makers.size(); ++i) {
      Node* node = makers[i];
      if (!(node->is("Transpose") || node->is("Mul")) || !node->output(0)->uses().empty()) continue;
      note_maker(node->input(0));
      graph.erase(node);
    }
  }
};

/// Where(all true, x, y) = x: what is left of asking whether a mask leaves something of each row.
void drop_idle_choices(Graph& graph) {
  for (Node& node : graph.nodes()) {
    if (!node.is("Where") || !node.output(0) || !have_same_shape(node.input(1), node.output(0))) continue;
    const Tensor* test = constant_of(node.input(0));
    if (!test || test->dtype() != DType::boolean) continue;
    const Array is_true = Array::from(*test);
    if (!std::ranges::all_of(is_true.data<bool>(), [](bool yes) { return yes; })) continue;
    graph.replace_all_uses(node.output(0), node.input(1));
    graph.erase(&node);
  }
}

}  // namespace

void fuse_attention(Graph& graph) {
  drop_idle_choices(graph);
  std::vector<Node*> candidates;
  for (Node& node : graph.nodes())
    if (node.is("Softmax")) candidates.push_back(&node);
  for (Node* node : candidates)
    if (Pattern pattern; pattern.match(*node)) pattern.write();
}

}  // namespace ingot::engine
