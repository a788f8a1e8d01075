// A quantised model, each rounding of which may fall the other way.
#include "ingot/passes/shake.h"

#include "ingot/ops/builder.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::passes {
namespace {

bool is_constant(const Value* v) { return v && v->initializer && !v->is_input(); }

/// The value behind nodes that only move elements.
const Value* behind_moves(const Value* v) {
  for (int steps = 0; v && steps < 8; ++steps) {
    const Node* node = v->producer();
    if (!node || !(node->is("Transpose") || node->is("Reshape") || node->is("Unsqueeze") || node->is("Squeeze") ||
                   node->is("Identity") || node->is("Pad")))
      break;
    v = node->input(0);
  }
  return v;
}

const Node* dequantizer_of(const Value* v) {
  v = behind_moves(v);
  const Node* node = v ? v->producer() : nullptr;
  return node && node->is("DequantizeLinear") ? node : nullptr;
}

bool is_product(const Node& node) {
  for (const char* op : {"Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN"})
    if (node.is(op)) return true;
  return false;
}

/// A product of floats with weights of 8 or 4 bits.
bool is_hybrid(const Node& node) {
  if (!is_product(node) || !node.input(0) || node.input(0)->type.elem != DType::f32) return false;
  const Node* weights = dequantizer_of(node.input(1));
  const Value* stored = weights ? weights->input(0) : nullptr;
  if (!is_constant(stored) || dequantizer_of(node.input(0))) return false;
  const DType type = stored->type.elem;
  return type == DType::i8 || type == DType::u8 || type == DType::i4 || type == DType::u4;
}

class Shaking {
 public:
  explicit Shaking(std::uint32_t seed) : seed_(seed) {}

  void shake(Graph& graph) {
    for (Node& node : graph.nodes()) {
      if (node.is("QuantizeLinear"))
        shake_rounding(node);
      else if (is_hybrid(node))
        shake_operand(node);
    }
  }

  std::size_t count = 0;

 private:
  /// From -0.5 to 0.5, as many as x has elements.
  Value* draws(GraphBuilder& g, Value* x) {
    // Seeds are floats: whole numbers that a float holds.
    return g.op("RandomUniformLike", {x},
                {{"low", -0.5}, {"high", 0.5}, {"seed", static_cast<double>((seed_ + 7919 * ++count) % 1000003)}});
  }

  void shake_rounding(Node& node) {
    Value *x = node.input(0), *scale = node.input(1);
    if (!x || !scale || is_constant(x) || x->type.elem != DType::f32 || scale->type.elem != DType::f32) return;
    const auto dims = static_dims(scale->type.shape);
    if (!dims || dims->size() > 1 || (dims->size() == 1 && dims->front() != 1)) return;  // one step for all elements
    GraphBuilder g(node.graph(), &node);
    g.name_after(node);
    Value* noise = draws(g, x);
    Value* scaled = g.mul(noise, scale);
    node.set_input(0, g.add(x, scaled));
  }

  void shake_operand(Node& node) {
    Value* x = node.input(0);
    GraphBuilder g(node.graph(), &node);
    g.name_after(node);
    Value* noise = draws(g, x);
    Value* magnitude = g.op("Abs", {x});
    Value* largest = g.op("ReduceMax", {magnitude}, {{"keepdims", 0}});
    Value* step = g.div(largest, 127.0);
    Value* scaled = g.mul(noise, step);
    node.set_input(0, g.add(x, scaled));
  }

  std::uint32_t seed_;
};

}  // namespace

std::size_t shake_quantization(Model& model, std::uint32_t seed) {
  model.training.clear();
  inline_functions(model);
  canonicalize(model);
  Shaking shaking(seed);
  for_each_graph(*model.graph, [&](Graph& graph) { shaking.shake(graph); });
  return shaking.count;
}

}  // namespace ingot::passes
