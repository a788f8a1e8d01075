// Floats that are quantised and dequantised at once are rounded where they are.
#include "ingot/engine/rewrites/fuse_quantization.h"

#include <algorithm>
#include <cstring>

#include "ingot/engine/domain.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

bool is_float(const Value* v) { return v && v->type.elem == DType::f32; }

void join(Node& quantize) {
  Value* integers = quantize.output(0);
  if (!integers || integers->uses().empty() || !is_float(quantize.input(0))) return;
  const auto wanted = quantization_of(quantize, integers->type.elem);
  if (!wanted) return;
  std::vector<Node*> readers;
  for (const Use& use : integers->uses()) {
    if (!use.node || use.index != 0 || &use.node->graph() != &quantize.graph()) return;
    if (!use.node->is("DequantizeLinear") || !is_float(use.node->output(0))) return;
    if (quantization_of(*use.node, wanted->type) != wanted) return;
    readers.push_back(use.node);
  }
  Graph& graph = quantize.graph();
  GraphBuilder g(graph, &quantize);
  Node* joined =
      g.node("Quantized", kEngineDomain, {quantize.input(0)},
             {{"scale", wanted->scale}, {"low", wanted->lowest() - wanted->zero}, {"bits", wanted->bits()}}, 1);
  std::vector<Node*> nodes = {&quantize};
  nodes.insert(nodes.end(), readers.begin(), readers.end());
  joined->name = names_of(nodes);
  joined->output(0)->type = readers[0]->output(0)->type;
  for (Node* reader : readers) {
    graph.replace_all_uses(reader->output(0), joined->output(0));
    graph.erase(reader);
  }
  graph.erase(&quantize);
}

}  // namespace

void fuse_quantization(Graph& graph) {
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (node.is("QuantizeLinear")) found.push_back(&node);
  for (Node* node : found) join(*node);
}

}  // namespace ingot::engine
