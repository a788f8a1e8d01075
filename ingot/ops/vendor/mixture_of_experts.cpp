// com.microsoft: each row goes through the experts that a router chooses, with weights as they are or in a few bits.
#include <limits>

#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/packed_bits.h"

namespace ingot::ops {
namespace {

/// Pairs side by side: one gates the other.
Value* swiglu(DecomposeContext& c, Value* x) {
  GraphBuilder& g = c.g;
  Value* pairs = g.reshape(x, {0, 0, -1, 2});
  const Values parts = g.op("Split", {pairs}, {{"axis", 3}, {"num_outputs", 2}}, 2);
  Value *gate = g.squeeze(parts[0], {3}), *linear = g.squeeze(parts[1], {3});
  if (const float* limit = c.node.attributes.get<float>("swiglu_limit")) {
    const auto most = static_cast<double>(*limit);
    gate = g.op("Min", {gate, g.scalar(most, x->type.elem)});
    linear = g.op("Clip", {linear, g.scalar(-most, x->type.elem), g.scalar(most, x->type.elem)});
  }
  Value* gated = swish(g, gate, static_cast<double>(c.attr("activation_alpha", 1.0f)));
  return g.mul(gated, g.add(linear, static_cast<double>(c.attr("activation_beta", 0.0f))));
}

Value* activated_by(DecomposeContext& c, Value* x) {
  const std::string name = c.attr("activation_type", "relu");
  if (name == "relu") return c.g.op("Relu", {x});
  if (name == "gelu") return gelu_tanh(c.g, x);
  if (name == "silu") return swish(c.g, x);
  if (name == "identity") return x;
  if (name == "swiglu" && c.attr("swiglu_fusion", std::int64_t{0}) == 1) return swiglu(c, x);
  return nullptr;
}

/// The share of each expert in each row: [rows, experts], zero where it is not chosen.
Value* shares(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  Value* all = g.op("Softmax", {c.in(1)}, {{"axis", -1}});
  const Values best = g.op("TopK", {all, g.ints({c.attr("k", std::int64_t{1})})}, {{"axis", -1}}, 2);
  Value* chosen = best[0];
  if (c.attr("normalize_routing_weights", std::int64_t{0})) chosen = g.div(chosen, g.reduce_sum(chosen, {-1}));
  Value* none = g.mul(all, 0.0);
  return g.op("ScatterElements", {none, best[1], chosen}, {{"axis", 1}});
}

/// What the two products of all experts take: weights [experts, out, in], and biases that may be null.
struct Experts {
  Value *first, *first_bias, *second, *second_bias;
};

Values through_experts(DecomposeContext& c, const Experts& experts, Value* share) {
  GraphBuilder& g = c.g;
  const auto width = last_size(c.in(0));
  if (!width) return {};
  Value* rows = g.reshape(c.in(0), {-1, *width});
  const auto product = [&](Value* x, Value* weights, Value* bias) {
    Value* y = g.op("MatMul", {x, g.transpose(weights, {0, 2, 1})});
    return bias ? g.add(y, g.unsqueeze(bias, {1})) : y;
  };
  Value* hidden = activated_by(c, product(g.unsqueeze(rows, {0}), experts.first, experts.first_bias));
  if (!hidden) return {};
  Value* results = product(hidden, experts.second, experts.second_bias);  // [experts, rows, width]
  Value* weights = g.unsqueeze(g.transpose(share, {1, 0}), {2});
  Value* y = g.reduce_sum(g.mul(results, weights), {0}, false);
  return {g.op("Reshape", {y, g.shape(c.in(0))})};
}

Values mixture_of_experts(DecomposeContext& c) {
  if (c.has(6) || c.has(7) || c.attr("use_sparse_mixer", std::int64_t{0})) return {};
  return through_experts(c, {c.in(2), c.in(3), c.in(4), c.in(5)}, shares(c));
}

/// The best are chosen first, and share alone; or their shares are given.
Value* shares_of_chosen(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const Values best = g.op("TopK", {c.in(1), g.ints({c.attr("k", std::int64_t{1})})}, {{"axis", -1}}, 2);
  Value* chosen = nullptr;
  if (c.has(14)) {
    chosen = g.op("GatherElements", {c.in(14), best[1]}, {{"axis", 1}});
    if (c.attr("normalize_routing_weights", std::int64_t{0})) chosen = g.div(chosen, g.reduce_sum(chosen, {-1}));
  } else {
    chosen = g.op("Softmax", {best[0]}, {{"axis", -1}});
  }
  return g.op("ScatterElements", {g.mul(c.in(1), 0.0), best[1], chosen}, {{"axis", 1}});
}

/// Weights of a few bits each, with a scale for each row or each block of a row; null: not in this form.
Value* unpacked_experts(DecomposeContext& c, std::size_t weights, std::size_t scales, std::size_t zeros) {
  GraphBuilder& g = c.g;
  const std::int64_t bits = c.attr("expert_weight_bits", std::int64_t{4});
  const auto width = last_size(c.in(weights));
  const auto scale_rank = c.rank(scales);
  if (c.rank(weights) != 3 || !width || !scale_rank || !is_packing(bits)) return nullptr;
  const std::int64_t length = *width * 8 / bits;
  Value* scale = *scale_rank == 2 ? g.unsqueeze(c.in(scales), {2}) : c.in(scales);
  const std::int64_t block = *scale_rank == 2 ? length : c.attr("block_size", std::int64_t{0});
  if (block <= 0) return nullptr;
  Value* zero = nullptr;
  if (c.has(zeros)) {
    // Packed along the rows of an expert, or along the blocks of a row.
    const auto count = last_size(c.in(scales));
    if (c.rank(zeros) != scale_rank || !count) return nullptr;
    zero = slice(g, unpacked(g, c.in(zeros), bits), *scale_rank - 1, 0, *count);
    if (*scale_rank == 2) zero = g.unsqueeze(zero, {2});
  } else {
    const Tensor middle = Tensor::of<std::uint8_t>({1}, {static_cast<std::uint8_t>(1 << (bits - 1))});
    zero = g.op("ConstantOfShape", {g.shape(scale)}, {{"value", middle}});
  }
  Value* w =
      g.op("DequantizeLinear", {unpacked(g, c.in(weights), bits), scale, zero}, {{"axis", 2}, {"block_size", block}});
  return g.cast(w, c.elem(0));
}

Values quantized_mixture_of_experts(DecomposeContext& c) {
  for (const std::size_t i : {8, 9, 10, 13, 15, 16, 17, 18, 19, 20})
    if (c.has(i)) return {};
  if (c.attr("use_sparse_mixer", std::int64_t{0}) || c.attr("quant_type", "int") != "int" ||
      c.attr("weights_prepacked", std::int64_t{-1}) > 0 || !c.has(3) || !c.has(6))
    return {};
  Value *first = unpacked_experts(c, 2, 3, 11), *second = unpacked_experts(c, 5, 6, 12);
  if (!first || !second) return {};
  return through_experts(c, {first, c.in(4), second, c.in(7)}, shares_of_chosen(c));
}

}  // namespace

constinit const OpDef defs::microsoft::MoE = {
    .name = "MoE", .domain = kMicrosoft, .infer = infer_by_body, .decompose = mixture_of_experts};
constinit const OpDef defs::microsoft::QMoE = {
    .name = "QMoE", .domain = kMicrosoft, .infer = infer_by_body, .decompose = quantized_mixture_of_experts};

}  // namespace ingot::ops
