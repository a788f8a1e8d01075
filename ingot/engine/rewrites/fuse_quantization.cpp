// Floats that are quantised and dequantised at once are rounded where they are.
#include "ingot/engine/rewrites/fuse_quantization.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "ingot/engine/domain.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

struct Quantization {
  DType type = DType::u8;
  float scale = 0;
  std::int64_t zero = 0;
  bool operator==(const Quantization&) const = default;

  std::int64_t bits() const { return bits_of(type); }
  /// The least integer of the type, without the zero point.
  std::int64_t lowest() const {
    const bool is_signed = type == DType::i8 || type == DType::i16;
    return (is_signed ? -(std::int64_t{1} << (bits() - 1)) : 0) - zero;
  }
};

/// What a QuantizeLinear or DequantizeLinear does, if it is the same to all elements and known.
std::optional<Quantization> quantization_of(const Node& node, DType type) {
  if (type != DType::i8 && type != DType::u8 && type != DType::i16 && type != DType::u16) return {};
  const Attributes& attributes = node.attributes;
  if (attributes.int_or("block_size", 0) != 0 || attributes.int_or("precision", 0) != 0) return {};
  const Tensor *scale = constant_of(node.input(1)), *zero = constant_of(node.input(2));
  if (!scale || scale->dtype() != DType::f32 || scale->size() != 1 || scale->rank() > 1) return {};
  if (node.input(2) && (!zero || zero->dtype() != type || zero->dims() != scale->dims())) return {};
  return Quantization{type, scale->at<float>(0), zero ? zero->to_ints()[0] : 0};
}

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
  Node* joined = g.node("Quantized", kEngineDomain, {quantize.input(0)},
                        {{"scale", wanted->scale}, {"low", wanted->lowest()}, {"bits", wanted->bits()}}, 1);
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
