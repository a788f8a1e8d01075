// Products with transposed factors, with a number, and with what comes behind them.
#include <algorithm>
#include <numeric>

#include "ingot/ops/infer.h"
#include "ingot/passes/fuse/fusions.h"

namespace ingot::passes::fuse {
namespace {

bool is_product(const Node* node) { return node && (node->is("MatMul") || node->is("FusedMatMul", kMicrosoft)); }

/// The factor before a transposition of its last two axes; null: there is none.
Value* before_turn(const Value* v) {
  const Node* turn = maker(v, "Transpose");
  const std::int64_t rank = rank_of(v);
  if (!turn || rank < 2 || !is_float_tensor(v)) return nullptr;
  std::vector<std::int64_t> perm(static_cast<std::size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return has_perm(*turn, perm) ? turn->input(0) : nullptr;
}

bool fuse_transposes(Node& node) {
  if (rank_of(node.input(0)) < 2 || rank_of(node.input(1)) < 2) return false;
  Value *a = before_turn(node.input(0)), *b = before_turn(node.input(1));
  if (!a && !b) return false;
  replace_by_microsoft(node, "FusedMatMul", {a ? a : node.input(0), b ? b : node.input(1)},
                       {{"transA", a != nullptr}, {"transB", b != nullptr}, {"alpha", 1.0}});
  return true;
}

/// number * (a b), or (a b) / number
bool fuse_number(Node& node) {
  const bool divides = node.is("Div");
  const auto divisor = divides ? number_of(node.input(1)) : std::nullopt;
  const WithNumber parts = divides ? WithNumber{node.input(0), divisor ? 1 / *divisor : 0} : split_number(node);
  if ((divides && (!divisor || *divisor == 0)) || !is_same_type(parts.other, node.output())) return false;
  const Node* product = parts.other->producer();
  if (!is_product(product) || !is_read_only_by(parts.other, node) || !is_float_tensor(parts.other)) return false;
  const Attributes& old = product->attributes;
  replace_by_microsoft(node, "FusedMatMul", {product->input(0), product->input(1)},
                       {{"transA", old.int_or("transA", 0)},
                        {"transB", old.int_or("transB", 0)},
                        {"alpha", static_cast<float>(static_cast<double>(old.float_or("alpha", 1)) * parts.number)}});
  return true;
}

/// What FusedConv and FusedGemm call an activation, with its parameters in their order.
struct Activation {
  std::string name;
  std::vector<float> parameters;
};

std::optional<Activation> activation_of(const Node& node) {
  const auto number = [&](const char* name, float otherwise) { return node.attributes.float_or(name, otherwise); };
  for (const char* plain : {"Relu", "Tanh", "Sigmoid"})
    if (node.is(plain)) return Activation{plain, {}};
  if (node.is("LeakyRelu")) return Activation{node.op, {number("alpha", 0.01f)}};
  if (node.is("HardSigmoid")) return Activation{node.op, {number("alpha", 0.2f), number("beta", 0.5f)}};
  if (!node.is("Clip")) return std::nullopt;
  const auto least = number_of(node.input(1)), most = number_of(node.input(2));
  if (!least || !most) return std::nullopt;
  return Activation{node.op, {static_cast<float>(*least), static_cast<float>(*most)}};
}

Attrs attributes_of(const Node& node) {
  Attrs attrs;
  for (const Attribute& a : node.attributes) {
    if (const auto* i = std::get_if<std::int64_t>(&a.value)) attrs.emplace_back(a.name, *i);
    if (const auto* f = std::get_if<float>(&a.value)) attrs.emplace_back(a.name, *f);
    if (const auto* s = std::get_if<std::string>(&a.value)) attrs.emplace_back(a.name, *s);
    if (const auto* l = std::get_if<std::vector<std::int64_t>>(&a.value)) attrs.emplace_back(a.name, *l);
  }
  return attrs;
}

/// act(Conv(x) + z)
bool fuse_conv(Node& node) {
  const auto activation = activation_of(node);
  if (!activation || !is_float_tensor(node.input(0))) return false;
  const Node* conv = own_maker(node.input(0), "Conv", node);
  Value* z = nullptr;
  if (const Node* sum = conv ? nullptr : own_maker(node.input(0), "Add", node)) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      if (conv || !is_same_type(sum->input(0), sum->input(1))) continue;
      conv = own_maker(sum->input(i), "Conv", *sum);
      if (conv) z = sum->input(1 - i);
    }
  }
  if (!conv) return false;
  Attrs attrs = attributes_of(*conv);
  attrs.emplace_back("activation", activation->name);
  if (!activation->parameters.empty()) attrs.emplace_back("activation_params", activation->parameters);
  replace_by_microsoft(node, "FusedConv", {conv->input(0), conv->input(1), conv->input(2), z}, attrs);
  return true;
}

bool fuse_gemm(Node& node) {
  const auto activation = activation_of(node);
  const Node* gemm = own_maker(node.input(0), "Gemm", node);
  if (!gemm || !activation || activation->name == "Clip" || !is_float_tensor(node.input(0))) return false;
  Attrs attrs = attributes_of(*gemm);
  attrs.emplace_back("activation", activation->name);
  const char* const names[] = {"activation_alpha", "activation_beta"};
  for (std::size_t i = 0; i < activation->parameters.size(); ++i)
    attrs.emplace_back(names[i], activation->parameters[i]);
  replace_by_microsoft(node, "FusedGemm", {gemm->input(0), gemm->input(1), gemm->input(2)}, attrs);
  return true;
}

constexpr Fusion kProducts[] = {
    {"FusedMatMul", "MatMul", fuse_transposes},
    {"FusedMatMul", "Mul", fuse_number},
    {"FusedMatMul", "Div", fuse_number},
};
constexpr Fusion kActivations[] = {
    {"FusedConv", "Relu", fuse_conv},        {"FusedConv", "Tanh", fuse_conv},
    {"FusedConv", "Sigmoid", fuse_conv},     {"FusedConv", "LeakyRelu", fuse_conv},
    {"FusedConv", "Clip", fuse_conv},        {"FusedConv", "HardSigmoid", fuse_conv},
    {"FusedGemm", "Relu", fuse_gemm},        {"FusedGemm", "Tanh", fuse_gemm},
    {"FusedGemm", "Sigmoid", fuse_gemm},     {"FusedGemm", "LeakyRelu", fuse_gemm},
    {"FusedGemm", "HardSigmoid", fuse_gemm},
};

}  // namespace

std::span<const Fusion> product_fusions() { return kProducts; }
std::span<const Fusion> activation_fusions() { return kActivations; }

}  // namespace ingot::passes::fuse
