// Gelu in its forms, and the bias before it.
#include "ingot/passes/fuse/fusions.h"

namespace ingot::passes::fuse {
namespace {

bool fuse_gelu(Node& node) {
  if (!is_float_tensor(node.input(0))) return false;
  const bool is_tanh = node.attributes.string_or("approximate", "none") == "tanh";
  replace_by_microsoft(node, is_tanh ? "FastGelu" : "Gelu", {node.input(0)}, {});
  return true;
}

/// x * sigmoid(alpha * x)
bool fuse_quick_gelu(Node& node) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    Value* x = node.input(i);
    const Node* gate = own_maker(node.input(1 - i), "Sigmoid", node);
    if (!gate || !is_float_tensor(x)) continue;
    double alpha = 1;
    if (gate->input(0) != x) {
      const Node* product = own_maker(gate->input(0), "Mul", *gate);
      const WithNumber parts = product ? split_number(*product) : WithNumber{};
      if (parts.other != x) continue;
      alpha = parts.number;
    }
    replace_by_microsoft(node, "QuickGelu", {x}, {{"alpha", alpha}});
    return true;
  }
  return false;
}

bool fuse_swish(Node& node) {
  if (!is_float_tensor(node.input(0))) return false;
  replace_by_microsoft(node, "QuickGelu", {node.input(0)}, {{"alpha", node.attributes.float_or("alpha", 1)}});
  return true;
}

/// Gelu(x + bias)
bool take_bias(Node& node) {
  const Node* sum = node.input(1) ? nullptr : own_maker(node.input(0), "Add", node);
  const auto biased = sum ? split_bias(*sum) : std::nullopt;
  if (!biased) return false;
  replace_by_microsoft(node, node.op == "Gelu" ? "BiasGelu" : "FastGelu", {biased->x, biased->row}, {});
  return true;
}

constexpr Fusion kForms[] = {
    {"Gelu", "Gelu", fuse_gelu},
    {"QuickGelu", "Mul", fuse_quick_gelu},
    {"QuickGelu", "Swish", fuse_swish},
};
constexpr Fusion kBiases[] = {
    {"BiasGelu", "Gelu", take_bias, kMicrosoft},
    {"FastGelu with bias", "FastGelu", take_bias, kMicrosoft},
};

}  // namespace

std::span<const Fusion> gelu_fusions() { return kForms; }
std::span<const Fusion> bias_fusions() { return kBiases; }

}  // namespace ingot::passes::fuse
