// com.microsoft: products with what stands around them.
#include <algorithm>

#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/fused_activation.h"

namespace ingot::ops {
namespace {

std::vector<float> parameters_of(const Node& node) {
  const auto* list = node.attributes.get<std::vector<float>>("activation_params");
  return list ? *list : std::vector<float>();
}

/// Those that have an attribute each; what the activation does not know is not read.
std::vector<float> single_parameters(const Node& node, const std::string& activation) {
  std::vector<float> parameters;
  for (const std::string_view name : parameters_of_activation(activation)) {
    const float* value = node.attributes.get<float>("activation_" + std::string(name));
    if (!value) break;
    parameters.push_back(*value);
  }
  return parameters;
}

/// Z, of the result's shape, is added before the activation.
Values fused_conv(DecomposeContext& c) {
  Value* y = c.g.op("Conv", {c.in(0), c.in(1), c.in(2)},
                    attributes_of(c.node, {"auto_pad", "kernel_shape", "dilations", "strides", "pads", "group"}));
  if (c.has(3)) y = c.g.add(y, c.in(3));
  y = activated(c.g, y, c.attr("activation", ""), parameters_of(c.node));
  return y ? Values{y} : Values{};
}

/// The same with channels last, and weights as always.
Values nhwc_fused_conv(DecomposeContext& c) {
  if (!c.rank(0)) return {};
  Value* y = c.g.op("Conv", {channels_first(c.g, c.in(0)), c.in(1), c.in(2)},
                    attributes_of(c.node, {"auto_pad", "kernel_shape", "dilations", "strides", "pads", "group"}));
  if (!y->type.shape) return {};
  y = channels_last(c.g, y);
  if (c.has(3)) y = c.g.add(y, c.in(3));
  y = activated(c.g, y, c.attr("activation", ""), parameters_of(c.node));
  return y ? Values{y} : Values{};
}

Values fused_gemm(DecomposeContext& c) {
  Value* y = c.g.op("Gemm", {c.in(0), c.in(1), c.in(2)}, attributes_of(c.node, {"transA", "transB", "alpha", "beta"}));
  const std::string activation = c.attr("activation", "");
  y = activated(c.g, y, activation, single_parameters(c.node, activation));
  return y ? Values{y} : Values{};
}

/// The operand with its batch axis moved behind the others and its last two exchanged, as asked for.
Value* turned(DecomposeContext& c, std::size_t i, bool turns_batch, bool turns_rows) {
  const auto rank = c.rank(i);
  if (!rank) return turns_batch || turns_rows ? nullptr : c.in(i);
  std::vector<std::int64_t> perm;
  for (std::int64_t k = 0; k < *rank; ++k) perm.push_back(k);
  if (turns_batch && *rank >= 3) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (turns_rows && *rank >= 2) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return std::ranges::is_sorted(perm) ? c.in(i) : c.g.transpose(c.in(i), perm);
}

Values fused_matmul(DecomposeContext& c) {
  const auto is_set = [&](const char* name) { return c.attr(name, std::int64_t{0}) != 0; };
  Value* a = turned(c, 0, is_set("transBatchA"), is_set("transA"));
  Value* b = turned(c, 1, is_set("transBatchB"), is_set("transB"));
  if (!a || !b) return {};
  Value* y = c.g.op("MatMul", {a, b});
  const float alpha = c.attr("alpha", 1.0f);
  return {alpha == 1.0f ? y : c.g.mul(y, static_cast<double>(alpha))};
}

Values fused_matmul_activation(DecomposeContext& c) {
  Values made = fused_matmul(c);
  if (made.empty()) return {};
  const std::string activation = c.attr("activation", "");
  if (activation == "Softmax") {
    made[0] = c.g.op("Softmax", {made[0]}, {{"axis", c.attr("activation_axis", std::int64_t{-1})}});
    return made;
  }
  made[0] = activated(c.g, made[0], activation, single_parameters(c.node, activation));
  return made[0] ? made : Values{};
}

Values gemm_fast_gelu(DecomposeContext& c) {
  Value* y = c.g.op("MatMul", {c.in(0), c.in(1)});
  return {gelu_tanh(c.g, c.has(2) ? c.g.add(y, c.in(2)) : y)};
}

}  // namespace

constinit const OpDef defs::microsoft::FusedConv = {
    .name = "FusedConv", .domain = kMicrosoft, .infer = infer_by_body, .decompose = fused_conv};
constinit const OpDef defs::microsoft::FusedGemm = {
    .name = "FusedGemm", .domain = kMicrosoft, .infer = infer_by_body, .decompose = fused_gemm};
constinit const OpDef defs::microsoft::FusedMatMul = {
    .name = "FusedMatMul", .domain = kMicrosoft, .infer = infer_by_body, .decompose = fused_matmul};
constinit const OpDef defs::microsoft::FusedMatMulActivation = {.name = "FusedMatMulActivation",
                                                                .domain = kMicrosoft,
                                                                .infer = infer_by_body,
                                                                .decompose = fused_matmul_activation};
constinit const OpDef defs::microsoft::GemmFastGelu = {
    .name = "GemmFastGelu", .domain = kMicrosoft, .infer = infer_by_body, .decompose = gemm_fast_gelu};
constinit const OpDef defs::microsoft::NhwcConv = {
    .name = "NhwcConv", .domain = kMicrosoft, .infer = infer_by_body, .decompose = nhwc_fused_conv};
constinit const OpDef defs::microsoft::NhwcFusedConv = {
    .name = "NhwcFusedConv", .domain = kMicrosoft, .infer = infer_by_body, .decompose = nhwc_fused_conv};
constinit const OpDef defs::microsoft::TransposeMatMul = {
    .name = "TransposeMatMul", .domain = kMicrosoft, .infer = infer_by_body, .decompose = fused_matmul};

}  // namespace ingot::ops
