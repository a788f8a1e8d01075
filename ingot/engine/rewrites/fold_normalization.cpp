// Batch normalisation with constant statistics, biases and scales of channels: into the weights of the convolution
// before them, else a normalisation becomes a product and a sum.
#include "ingot/engine/rewrites/fold_normalization.h"

#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"
#include "ingot/passes/absorb_lines.h"
#include "ingot/passes/affine.h"

namespace ingot::engine {
namespace {

using passes::Affine;
using passes::affine_of;

Tensor floats(Dims dims, const std::vector<double>& values) {
  return Tensor::of<float>(std::move(dims), std::vector<float>(values.begin(), values.end()));
}

/// Whether a convolution could take the normalisation in.
bool follows_convolution(const Node& normalization) {
  const Node* conv = normalization.input(0)->producer();
  if (!conv || !conv->is("Conv") || &conv->graph() != &normalization.graph()) return false;
  const Tensor* weight = constant_of(conv->input(1));
  return weight && weight->dtype() == DType::f32 && weight->rank() >= 3 && only_reader(conv->output(0));
}

void lower(Node& node, const Affine& affine) {
  const Shape& shape = *node.input(0)->type.shape;
  Dims dims(shape.size(), 1);
  dims[1] = static_cast<std::int64_t>(affine.factor.size());
  GraphBuilder g(node.graph(), &node);
  Value* scaled = g.mul(node.input(0), g.constant(floats(dims, affine.factor)));
  Value* y = g.add(scaled, g.constant(floats(dims, affine.offset)));
  node.graph().replace_all_uses(node.output(0), y);
  node.graph().erase(&node);
}

bool is_of_floats(const Node& node) {
  return node.is("BatchNormalization") && node.input(0) && node.input(0)->type.elem == DType::f32;
}

}  // namespace

void lower_normalization(Graph& graph) {
  for (Node& node : graph.nodes()) {
    if (!is_of_floats(node) || follows_convolution(node)) continue;
    const auto& shape = node.input(0)->type.shape;
    if (!shape || shape->size() < 2) continue;
    if (const auto affine = affine_of(node)) lower(node, *affine);
  }
}

void fold_normalization(Graph& graph) {
  passes::absorb_own_lines(graph);
  for (Node& node : graph.nodes()) {
    if (!is_of_floats(node)) continue;
    const auto affine = affine_of(node);
    if (!affine) continue;
    const auto& shape = node.input(0)->type.shape;
    if (shape && shape->size() >= 2) lower(node, *affine);
  }
}

}  // namespace ingot::engine
