// What a convolution takes in: the normalisation, the sum and the functions that follow it.
#include "ingot/engine/rewrites/convolution_group.h"

#include "ingot/engine/dnnl/convolution.h"

namespace ingot::engine {
namespace {

bool is_array(const Value* v) { return v && v->type.elem == DType::f32 && v->type.shape; }

/// x * sigmoid(x), written with two nodes: the two, the product last.
std::optional<std::pair<Node*, Node*>> swish_behind(const Value* x) {
  if (x->uses().size() != 2) return {};
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
    Node *sigmoid = x->uses()[first].node, *product = x->uses()[1 - first].node;
    if (!sigmoid || !product || &sigmoid->graph() != &x->graph() || &product->graph() != &x->graph()) continue;
    if (!sigmoid->is("Sigmoid") || !product->is("Mul") || only_reader(sigmoid->output(0)) != product) continue;
    return std::pair{sigmoid, product};
  }
  return {};
}

}  // namespace

ConvolutionGroup group_of(Node& conv, const std::unordered_set<const Node*>& taken) {
  ConvolutionGroup group;
  group.conv = &conv;
  group.nodes = {&conv};
  const std::int64_t channels = constant_of(conv.input(1))->dims()[0];
  const bool has_zeros = channels % kBlock != 0;
  const auto tail = [&] { return group.nodes.back()->output(0); };
  const auto next = [&] {
    Node* reader = only_reader(tail());
    return reader && !taken.contains(reader) ? reader : nullptr;
  };
  while (Node* node = next()) {
    auto affine = passes::channel_affine_of(*node, tail(), channels);
    if (!affine) break;
    group.affine = group.affine ? passes::joined(*group.affine, *affine) : std::move(affine);
    group.nodes.push_back(node);
  }
  if (Node* node = next(); node && node->is("Add")) {
    Value* other = node->input(0) == tail() ? node->input(1) : node->input(0);
    // The other operand is ready before the sum, hence before the convolution that moves there.
    if (other != tail() && is_array(other) && is_array(tail()) && have_same_shape(other, tail()) &&
        !constant_of(other)) {
      group.residual = node->input(0) == tail() ? 1 : 0;
      group.sum = node;
      group.nodes.push_back(node);
    }
  }
  if (Node* node = next(); node && node->input(0) == tail()) {
    group.limits = limits_of(*node);
    if (has_zeros && group.limits && !(group.limits->low <= 0 && group.limits->high >= 0)) group.limits.reset();
    if (group.limits) group.nodes.push_back(node);
  }
  while (true) {
    if (const auto swish = swish_behind(tail());
        swish && !taken.contains(swish->first) && !taken.contains(swish->second)) {
      group.functions.push_back({.unary = Unary::swish, .a = 1});
      group.nodes.insert(group.nodes.end(), {swish->first, swish->second});
      continue;
    }
    Node* node = next();
    const auto step = node && node->input(0) == tail() ? step_for(*node) : std::nullopt;
    if (!step || step->is_binary || (has_zeros && !step->keeps_zero())) return group;
    group.functions.push_back(*step);
    group.nodes.push_back(node);
  }
}

}  // namespace ingot::engine
