// com.microsoft.MoE: each row goes through the experts that a router chooses.
#include <limits>

#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

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

Values mixture_of_experts(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto& width = c.in(0)->type.shape;
  if (c.has(6) || c.has(7) || c.attr("use_sparse_mixer", std::int64_t{0}) || !width || !width->back().is_known())
    return {};
  Value* rows = g.reshape(c.in(0), {-1, width->back().value()});
  const auto product = [&](Value* x, std::size_t weights, std::size_t bias) {
    Value* y = g.op("MatMul", {x, g.transpose(c.in(weights), {0, 2, 1})});
    return c.has(bias) ? g.add(y, g.unsqueeze(c.in(bias), {1})) : y;
  };
  Value* hidden = activated_by(c, product(g.unsqueeze(rows, {0}), 2, 3));
  if (!hidden) return {};
  Value* results = product(hidden, 4, 5);  // [experts, rows, width]
  Value* weights = g.unsqueeze(g.transpose(shares(c), {1, 0}), {2});
  Value* y = g.reduce_sum(g.mul(results, weights), {0}, false);
  return {g.op("Reshape", {y, g.shape(c.in(0))})};
}

}  // namespace

constinit const OpDef defs::microsoft::MoE = {
    .name = "MoE", .domain = kMicrosoft, .infer = infer_by_body, .decompose = mixture_of_experts};

}  // namespace ingot::ops
