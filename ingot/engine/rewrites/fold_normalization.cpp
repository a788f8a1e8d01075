// Batch normalisation with constant statistics: into the weights of the convolution before it, else a product and a
// sum.
#include "ingot/engine/rewrites/fold_normalization.h"

#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"
#include "ingot/passes/affine.h"

namespace ingot::engine {
namespace {

using passes::Affine;
using passes::affine_of;

std::optional<std::vector<double>> constant_doubles(const Value* value) {
  const Tensor* tensor = constant_of(value);
  if (!tensor || tensor->dtype() != DType::f32) return {};
  return tensor->to_doubles();
}

Tensor floats(Dims dims, const std::vector<double>& values) {
  return Tensor::of<float>(std::move(dims), std::vector<float>(values.begin(), values.end()));
}

/// The convolution that could take the normalisation in.
Node* convolution_before(const Node& normalization) {
  Node* conv = normalization.input(0)->producer();
  if (!conv || !conv->is("Conv") || &conv->graph() != &normalization.graph()) return nullptr;
  const Tensor* weight = constant_of(conv->input(1));
  if (!weight || weight->dtype() != DType::f32 || weight->rank() < 3) return nullptr;
  return only_reader(conv->output(0)) ? conv : nullptr;
}

bool fold_into_convolution(Node& normalization, const Affine& affine) {
  Node* conv = convolution_before(normalization);
  if (!conv) return false;
  const Value* weight = conv->input(1);
  auto values = constant_doubles(weight);
  const std::size_t channels = affine.factor.size();
  if (static_cast<std::size_t>(weight->initializer->dims()[0]) != channels) return false;
  std::vector<double> bias(channels, 0);
  if (conv->input(2)) {
    const auto old = constant_doubles(conv->input(2));
    if (!old || old->size() != channels) return false;
    bias = *old;
  }
  const std::size_t per_channel = values->size() / channels;
  for (std::size_t i = 0; i < values->size(); ++i) (*values)[i] *= affine.factor[i / per_channel];
  for (std::size_t i = 0; i < channels; ++i) bias[i] = bias[i] * affine.factor[i] + affine.offset[i];
  GraphBuilder g(normalization.graph(), conv);
  conv->set_input(1, g.constant(floats(weight->initializer->dims(), *values)));
  conv->set_input(2, g.constant(floats({static_cast<std::int64_t>(channels)}, bias)));
  normalization.graph().replace_all_uses(normalization.output(0), conv->output(0));
  normalization.graph().erase(&normalization);
  return true;
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
    if (!is_of_floats(node) || convolution_before(node)) continue;
    const auto& shape = node.input(0)->type.shape;
    if (!shape || shape->size() < 2) continue;
    if (const auto affine = affine_of(node)) lower(node, *affine);
  }
}

void fold_normalization(Graph& graph) {
  for (Node& node : graph.nodes()) {
    if (!is_of_floats(node)) continue;
    const auto affine = affine_of(node);
    if (!affine || fold_into_convolution(node, *affine)) continue;
    const auto& shape = node.input(0)->type.shape;
    if (shape && shape->size() >= 2) lower(node, *affine);
  }
}

}  // namespace ingot::engine
