// com.microsoft: Attention with its projection inside, of floats and of 8-bit weights.
#include "ingot/ops/vendor/attention_body.h"
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/integer_product.h"

namespace ingot::ops {
namespace {

struct Inputs {
  Value *mask = nullptr, *past = nullptr, *bias = nullptr;
};

/// From queries, keys and values side by side.
Values from_projection(DecomposeContext& c, Value* projected, const Inputs& in) {
  GraphBuilder& g = c.g;
  if (c.attr("do_rotary", std::int64_t{0}) || c.attr("past_present_share_buffer", std::int64_t{0})) return {};
  const std::int64_t heads = c.attr("num_heads", std::int64_t{0});
  if (heads <= 0) return {};
  const auto sizes = c.node.attributes.ints_or("qkv_hidden_sizes", {});
  const Values parts = sizes.size() == 3 ? g.op("Split", {projected, g.ints(sizes)}, {{"axis", -1}}, 3)
                                         : g.op("Split", {projected}, {{"axis", -1}, {"num_outputs", 3}}, 3);
  Value* q = split_heads(g, parts[0], heads);
  Value* k = split_heads(g, parts[1], heads);
  Value* v = split_heads(g, parts[2], heads);
  if (in.past) {
    const Values past = g.op("Split", {in.past}, {{"axis", 0}, {"num_outputs", 2}}, 2);
    k = g.concat({g.squeeze(past[0], {0}), k}, 2);
    v = g.concat({g.squeeze(past[1], {0}), v}, 2);
  }
  Value* present = c.wants(1) ? g.concat({g.unsqueeze(k, {0}), g.unsqueeze(v, {0})}, 0) : nullptr;
  MaskParts parts_of_mask{in.mask, in.bias, static_cast<double>(c.attr("mask_filter_value", -10000.0f)),
                          c.attr("unidirectional", std::int64_t{0}) != 0};
  const auto mask = mask_of(g, q, k, parts_of_mask);
  const auto scale = scale_of(q, c.attr("scale", 0.0f));
  if (!mask || !scale) return {};
  return {join_heads(g, attend(g, q, k, v, *scale, *mask).y), present};
}

Values attention(DecomposeContext& c) {
  if (c.has(6)) return {};
  Value* projected = c.g.op("MatMul", {c.in(0), c.in(1)});
  if (c.has(2)) projected = c.g.add(projected, c.in(2));
  return from_projection(c, projected, {c.in(3), c.in(4), c.in(5)});
}

Values quantized_attention(DecomposeContext& c) {
  IntegerProduct product{c.in(0), c.in(1), c.in(6), c.in(7), c.in(3), c.in(4), c.in(2)};
  return from_projection(c, float_product(c.g, product), {c.in(5), c.in(8), nullptr});
}

}  // namespace

constinit const OpDef defs::microsoft::Attention = {
    .name = "Attention", .domain = kMicrosoft, .infer = infer_by_body, .decompose = attention};
constinit const OpDef defs::microsoft::QAttention = {
    .name = "QAttention", .domain = kMicrosoft, .infer = infer_by_body, .decompose = quantized_attention};

}  // namespace ingot::ops
