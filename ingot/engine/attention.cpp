// Attention over heads becomes one node.
#include "ingot/engine/attention.h"

#include <algorithm>

#include "ingot/engine/blocked.h"
#include "ingot/engine/pattern.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

using Perm = std::vector<std::int64_t>;
const Perm kHeadsFirst = {0, 2, 1, 3}, kKeysLast = {0, 2, 3, 1};

bool is_float_of_rank_4(const Value* v) {
  return v && v->type.elem == DType::f32 && v->type.shape && v->type.shape->size() == 4;
}

/// What a Transpose by these axes makes the value of; null if something else makes it.
Value* before_transpose(const Value* v, const Perm& perm) {
  const Node* node = v->producer();
  if (!node || !node->is("Transpose") || node->attributes.ints_or("perm", {}) != perm) return nullptr;
  return is_float_of_rank_4(node->input(0)) ? node->input(0) : nullptr;
}

/// One attention, from its Softmax outwards.
struct Pattern {
  Node *scores = nullptr, *scale_node = nullptr, *sum = nullptr, *softmax = nullptr, *mix = nullptr, *join = nullptr;
  float scale = 1;
  Value *q = nullptr, *k = nullptr, *v = nullptr, *mask = nullptr;

  bool match(Node& node) {
    softmax = &node;
    if (!node.is("Softmax") || !is_float_of_rank_4(node.input(0)) || !node.output(0)) return false;
    const std::int64_t axis = node.attributes.int_or("axis", -1);
    if (axis != -1 && axis != 3) return false;
    mix = only_reader(node.output(0));
    if (!mix || !mix->is("MatMul") || mix->input(0) != node.output(0)) return false;
    join = only_reader(mix->output(0));
    if (!join || !join->is("Transpose") || join->attributes.ints_or("perm", {}) != kHeadsFirst) return false;
    return match_scores() && match_operands();
  }

  /// A node that only the next one reads.
  Node* before(const Value* value) const {
    Node* node = value->producer();
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
      if (!sum || mask->type.elem != DType::f32 || !mask->type.shape || mask->type.shape->size() > 4) return false;
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
    q = before_transpose(scores->input(0), kHeadsFirst);
    k = before_transpose(scores->input(1), kKeysLast);
    v = before_transpose(mix->input(1), kHeadsFirst);
    if (!q || !k || !v) return false;
    const auto is_same = [](const Value* a, const Value* b, std::size_t axis) {
      return same(a->type.shape->at(axis), b->type.shape->at(axis));
    };
    return is_same(q, k, 0) && is_same(q, v, 0) && is_same(q, k, 2) && is_same(q, v, 2) && is_same(q, k, 3) &&
           is_same(k, v, 1);
  }

  void write() const {
    std::vector<Node*> nodes;
    for (Node* node : {scores, scale_node, sum, softmax, mix, join})
      if (node) nodes.push_back(node);
    Graph& graph = softmax->graph();
    GraphBuilder g(graph, join);
    Node* fused = g.node("Attention", kEngineDomain, {q, k, v, mask}, {{"scale", scale}}, 1);
    fused->name = names_of(nodes);
    fused->output(0)->type = join->output(0)->type;
    const Values transposed = {scores->input(0), scores->input(1), mix->input(1)};
    graph.replace_all_uses(join->output(0), fused->output(0));
    for (std::size_t i = nodes.size(); i-- > 0;) graph.erase(nodes[i]);
    for (const Value* value : transposed)
      if (value->uses().empty()) graph.erase(value->producer());
  }
};

}  // namespace

void fuse_attention(Graph& graph) {
  std::vector<Node*> candidates;
  for (Node& node : graph.nodes())
    if (node.is("Softmax")) candidates.push_back(&node);
  for (Node* node : candidates)
    if (Pattern pattern; pattern.match(*node)) pattern.write();
}

}  // namespace ingot::engine
