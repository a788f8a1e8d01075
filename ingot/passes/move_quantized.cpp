// Moves of elements before dequantisation instead of behind it.
#include "ingot/passes/move_quantized.h"

#include <algorithm>

#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/hand_over.h"

namespace ingot::passes {
namespace {

bool moves_elements(const Node& node) {
  constexpr std::string_view kMoves[] = {"Flatten", "MaxPool", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"};
  if (!node.domain.empty() || std::ranges::find(kMoves, node.op) == std::end(kMoves)) return false;
  return node.output_count() == 1 || !node.output(1);
}

/// The node that dequantises the data, if all elements have one scale and they are not constant.
const Node* dequantized_by(const Node& node) {
  const Value* x = node.input(0);
  const Node* source = x ? x->producer() : nullptr;
  if (!source || !source->is("DequantizeLinear") || &source->graph() != &node.graph()) return nullptr;
  const Value *integers = source->input(0), *scale = source->input(1);
  if (!integers || !scale || !scale->type.shape || ops::constant_of(integers)) return nullptr;
  const bool is_single = scale->type.shape->empty();
  const DType type = integers->type.elem;
  const bool fits = !node.is("MaxPool") || type == DType::i8 || type == DType::u8;
  return is_single && fits && type != DType::i32 ? source : nullptr;
}

void move_before(Node& node, const Node& source) {
  Graph& graph = node.graph();
  Value* y = node.output(0);
  const Type real = y->type;
  const std::vector<Use> uses(y->uses().begin(), y->uses().end());
  node.set_input(0, source.input(0));
  y->type.elem = source.input(0)->type.elem;
  GraphBuilder g(graph, node.next());
  g.name_after(node);
  g.set_metadata(node.metadata);
  Value* made = g.op("DequantizeLinear", {y, source.input(1), source.input(2)});
  made->type = real;
  hand_over(y, made, uses);
}

}  // namespace

std::size_t move_quantized(Graph& root) {
  std::size_t changed = 0;
  for_each_graph(root, [&](Graph& graph) {
    for (Node& node : graph.nodes()) {
      if (!moves_elements(node)) continue;
      const Node* source = dequantized_by(node);
      if (!source) continue;
      move_before(node, *source);
      ++changed;
    }
  });
  return changed;
}

}  // namespace ingot::passes
