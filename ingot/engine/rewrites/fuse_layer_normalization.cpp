// Normalisation of rows that was written out becomes one operator again.
#include "ingot/engine/rewrites/fuse_layer_normalization.h"

#include <algorithm>
#include <optional>

#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

/// The node of this operator that makes a value nobody else reads.
Node* made_by(const Value* value, std::string_view op) {
  Node* node = value ? value->producer() : nullptr;
  return node && node->is(op) && &node->graph() == &value->graph() && only_reader(value) ? node : nullptr;
}

bool is_mean_of_rows(const Node& node) {
  const Tensor* axes = constant_of(node.input(1));
  const auto& shape = node.input(0)->type.shape;
  if (!axes || axes->dtype() != DType::i64 || axes->size() != 1 || node.attributes.int_or("keepdims", 1) == 0)
    return false;
  const std::int64_t axis = axes->at<std::int64_t>(0);
  return axis == -1 || (shape && axis == std::ssize(*shape) - 1);
}

/// One constant number per element of the last axis: how many; 0 if it is something else.
std::int64_t row_length(const Value* v) {
  const Tensor* tensor = constant_of(v);
  if (!tensor || tensor->dtype() != DType::f32 || tensor->rank() < 1 || tensor->size() != tensor->dims().back())
    return 0;
  return tensor->size();
}

struct Normalization {
  Node* difference = nullptr;  // x - mean
  float epsilon = 0;
  std::vector<Node*> nodes;  // in the order of the graph
};

/// What a quotient normalises.
std::optional<Normalization> normalization_of(Node& quotient) {
  Node* difference = quotient.input(0)->producer();
  if (!difference || !difference->is("Sub") || &difference->graph() != &quotient.graph()) return {};
  const Value* centred = difference->output(0);
  Node* mean = made_by(difference->input(1), "ReduceMean");
  if (!mean || mean->input(0) != difference->input(0) || !is_mean_of_rows(*mean)) return {};
  Node* root = made_by(quotient.input(1), "Sqrt");
  Node* sum = root ? made_by(root->input(0), "Add") : nullptr;
  if (!sum) return {};
  const bool is_first = constant_number(sum->input(1), 0).has_value();
  const auto epsilon = constant_number(sum->input(is_first ? 1 : 0), 0);
  Node* variance = made_by(sum->input(is_first ? 0 : 1), "ReduceMean");
  if (!epsilon || !variance || !is_mean_of_rows(*variance)) return {};
  Node* square = variance->input(0)->producer();
  if (!square || !only_reader(variance->input(0)) || square->input(0) != centred) return {};
  const bool is_square = (square->is("Pow") && constant_number(square->input(1), 0) == 2.0f) ||
                         (square->is("Mul") && square->input(1) == centred);
  if (!is_square) return {};
  for (const Use& use : centred->uses())
    if (use.node != square && use.node != &quotient) return {};
  return Normalization{difference, *epsilon, {mean, difference, square, variance, sum, root, &quotient}};
}

/// The node of this operator that alone reads the value, with a constant row as its other operand.
Node* by_row(const Value* value, std::string_view op, std::int64_t length) {
  Node* node = only_reader(value);
  if (!node || !node->is(op)) return nullptr;
  const Value* row = node->input(0) == value ? node->input(1) : node->input(0);
  const std::int64_t found = row_length(row);
  const auto& shape = value->type.shape;
  const bool fits = found && (!length || found == length) && shape && constant_of(row)->rank() <= std::ssize(*shape);
  return fits && same(shape->back(), found) ? node : nullptr;
}

void fuse(Node& quotient) {
  if (!quotient.is("Div") || !quotient.output(0) || quotient.output(0)->type.elem != DType::f32) return;
  if (!quotient.input(0) || !quotient.input(1)) return;
  auto found = normalization_of(quotient);
  if (!found) return;
  Node* scaled = by_row(quotient.output(0), "Mul", 0);
  if (!scaled) return;
  const auto row_of = [](const Node& node, const Value* value) {
    return node.input(0) == value ? node.input(1) : node.input(0);
  };
  Value* scale = row_of(*scaled, quotient.output(0));
  found->nodes.push_back(scaled);
  Value* bias = nullptr;
  if (Node* shifted = by_row(scaled->output(0), "Add", row_length(scale))) {
    bias = row_of(*shifted, scaled->output(0));
    found->nodes.push_back(shifted);
  }
  Graph& graph = quotient.graph();
  Node& tail = *found->nodes.back();
  GraphBuilder g(graph, &tail);
  const auto as_list = [&](Value* row) {
    return row && constant_of(row)->rank() > 1 ? g.constant(constant_of(row)->reshaped({row_length(row)})) : row;
  };
  scale = as_list(scale);
  bias = as_list(bias);
  Node* fused = g.node("LayerNormalization", "", {found->difference->input(0), scale, bias},
                       {{"axis", -1}, {"epsilon", found->epsilon}}, 1);
  fused->name = names_of(found->nodes);
  fused->output(0)->type = tail.output(0)->type;
  graph.replace_all_uses(tail.output(0), fused->output(0));
  for (std::size_t i = found->nodes.size(); i-- > 0;) graph.erase(found->nodes[i]);
}

}  // namespace

void fuse_layer_normalization(Graph& graph) {
  std::vector<Node*> quotients;
  for (Node& node : graph.nodes())
    if (node.is("Div")) quotients.push_back(&node);
  for (Node* node : quotients) fuse(*node);
}

}  // namespace ingot::engine
