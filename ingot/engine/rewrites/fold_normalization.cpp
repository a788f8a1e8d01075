// Batch normalisation with constant statistics, biases and scales of channels: into the weights of the convolution
// before them, else a normalisation becomes a product and a sum.
#include "ingot/engine/rewrites/fold_normalization.h"

#include <algorithm>

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

/// The convolution that could take in what reads its result.
Node* convolution_before(const Node& node, const Value* x) {
  Node* conv = x ? x->producer() : nullptr;
  if (!conv || !conv->is("Conv") || &conv->graph() != &node.graph()) return nullptr;
  const Tensor* weight = constant_of(conv->input(1));
  if (!weight || weight->dtype() != DType::f32 || weight->rank() < 3) return nullptr;
  return only_reader(conv->output(0)) ? conv : nullptr;
}

bool fold_into_convolution(Node& node, const Value* x) {
  Node* conv = convolution_before(node, x);
  if (!conv) return false;
  const auto found = passes::channel_affine_of(node, x, constant_of(conv->input(1))->dims()[0]);
  if (!found) return false;
  const Affine& affine = *found;
  const Value* weight = conv->input(1);
  const std::size_t channels = affine.factor.size();
  std::vector<double> bias(channels, 0);
  if (conv->input(2)) {
    const auto old = constant_doubles(conv->input(2));
    if (!old || old->size() != channels) return false;
    bias = *old;
  }
  for (std::size_t i = 0; i < channels; ++i) bias[i] = bias[i] * affine.factor[i] + affine.offset[i];
  GraphBuilder g(node.graph(), conv);
  if (std::ranges::any_of(affine.factor, [](double f) { return f != 1; })) {
    auto values = constant_doubles(weight);
    const std::size_t per_channel = values->size() / channels;
    for (std::size_t i = 0; i < values->size(); ++i) (*values)[i] *= affine.factor[i / per_channel];
    conv->set_input(1, g.constant(floats(weight->initializer->dims(), *values)));
  }
  conv->set_input(2, g.constant(floats({static_cast<std::int64_t>(channels)}, bias)));
  node.graph().replace_all_uses(node.output(0), conv->output(0));
  node.graph().erase(&node);
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
    if (!is_of_floats(node) || convolution_before(node, node.input(0))) continue;
    const auto& shape = node.input(0)->type.shape;
    if (!shape || shape->size() < 2) continue;
    if (const auto affine = affine_of(node)) lower(node, *affine);
  }
}

void fold_normalization(Graph& graph) {
  for (Node& node : graph.nodes()) {
    if (fold_into_convolution(node, node.input(0)) || (node.input(1) && fold_into_convolution(node, node.input(1))))
      continue;
    if (!is_of_floats(node)) continue;
    const auto affine = affine_of(node);
    if (!affine) continue;
    const auto& shape = node.input(0)->type.shape;
    if (shape && shape->size() >= 2) lower(node, *affine);
  }
}

}  // namespace ingot::engine
