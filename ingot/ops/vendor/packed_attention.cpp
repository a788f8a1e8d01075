// com.microsoft: sequences without padding, and attention over them.
#include <limits>

#include "ingot/ops/vendor/attention_body.h"
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

constexpr double kLowest = std::numeric_limits<float>::lowest();

Value* count_up(GraphBuilder& g, Value* count) { return g.op("Range", {g.index(0), count, g.index(1)}); }

Values remove_padding(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  if (c.rank(0) != 3) return {};
  Value* rows = count_up(g, count_of(g, c.in(0), 1));
  Value* keeps = g.op("Less", {rows, g.unsqueeze(g.cast(c.in(1), DType::i64), {1})});
  Value* flat = g.reshape(keeps, {-1});
  Value* shape = g.op("Shape", {c.in(0)}, {{"start", 2}});
  Value* tokens = g.op("Reshape", {c.in(0), g.concat({g.ints({-1}), shape}, 0)});
  Value* places = count_up(g, count_of(g, flat, 0));
  const auto chosen = [&](Value* which) { return g.op("Compress", {places, which}, {{"axis", 0}}); };
  Value* offsets = g.op("Reshape", {g.concat({chosen(flat), chosen(g.op("Not", {flat}))}, 0), g.shape(keeps)});
  Value* zero = g.constant(Tensor::of<std::int32_t>({1}, {0}));
  Value* sums = g.concat({zero, g.op("CumSum", {c.in(1), g.index(0)})}, 0);
  Value* longest = g.op("ReduceMax", {c.in(1), g.ints({0})}, {{"keepdims", 1}});
  return {g.op("Compress", {tokens, flat}, {{"axis", 0}}), g.cast(offsets, DType::i32), sums, longest};
}

/// The places of the tokens [T, 1] among all, padding too.
Value* places_of(GraphBuilder& g, Value* tokens, Value* offsets) {
  Value* flat = g.cast(g.reshape(offsets, {-1}), DType::i64);
  return g.unsqueeze(g.op("Slice", {flat, g.ints({0}), size_of(g, tokens, 0), g.ints({0})}), {1});
}

/// [T, width] -> [B, S, width], with zeros for padding.
Value* padded(GraphBuilder& g, Value* tokens, Value* offsets) {
  Value* width = size_of(g, tokens, -1);
  Value* all = g.reshape(g.op("Size", {offsets}), {1});
  const Tensor zero = Tensor::of<float>({1}, {0});
  Value* none = g.cast(g.op("ConstantOfShape", {g.concat({all, width}, 0)}, {{"value", zero}}), tokens->type.elem);
  Value* filled = g.op("ScatterND", {none, places_of(g, tokens, offsets), tokens});
  return g.op("Reshape", {filled, g.concat({g.shape(offsets), width}, 0)});
}

Values restore_padding(DecomposeContext& c) { return {padded(c.g, c.in(0), c.in(1))}; }

struct Projected {
  Value *q, *k, *v;  // [T, heads * width]
};

/// Padding is put in, looked past, and taken out again.
Values packed(DecomposeContext& c, const Projected& in, Value* offsets, Value* ends, Value* bias) {
  GraphBuilder& g = c.g;
  const std::int64_t heads = c.attr("num_heads", std::int64_t{0});
  if (heads <= 0) return {};
  const auto with_heads = [&](Value* x) { return split_heads(g, padded(g, x, offsets), heads); };
  Value *q = with_heads(in.q), *k = with_heads(in.k), *v = with_heads(in.v);
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  Value* lengths = g.sub(slice(g, ends, 0, 1, kEnd), slice(g, ends, 0, 0, -1));
  Value* at = g.cast(count_up(g, count_of(g, k, 2)), DType::i32);
  Value* keeps = g.op("Less", {at, g.unsqueeze(lengths, {1, 2, 3})});
  Value* mask = g.where(keeps, g.scalar(0, q->type.elem), g.scalar(kLowest, q->type.elem));
  if (bias) mask = g.add(mask, bias);
  const auto scale = scale_of(q, c.attr("scale", 0.0f));
  if (!scale) return {};
  Value* y = join_heads(g, attend(g, q, k, v, *scale, mask).y);
  Value* rows = g.op("Reshape", {y, g.concat({g.ints({-1}), size_of(g, y, 2)}, 0)});
  return {g.op("GatherND", {rows, places_of(g, in.q, offsets)})};
}

Values packed_attention(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  Value* projected = g.add(g.op("MatMul", {c.in(0), c.in(1)}), c.in(2));
  const auto sizes = c.node.attributes.ints_or("qkv_hidden_sizes", {});
  const Values parts = sizes.size() == 3 ? g.op("Split", {projected, g.ints(sizes)}, {{"axis", -1}}, 3)
                                         : g.op("Split", {projected}, {{"axis", -1}, {"num_outputs", 3}}, 3);
  return packed(c, {parts[0], parts[1], parts[2]}, c.in(3), c.in(4), c.in(5));
}

Values packed_multi_head_attention(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  Projected in{c.in(0), c.in(1), c.in(2)};
  if (c.rank(0) == 4) {  // [T, N, 3, H]
    const Values parts = g.op("Split", {c.in(0)}, {{"axis", 2}, {"num_outputs", 3}}, 3);
    const auto flat = [&](Value* v) { return g.reshape(g.squeeze(v, {2}), {0, -1}); };
    in = {flat(parts[0]), flat(parts[1]), flat(parts[2])};
  }
  if (!in.k || !in.v) return {};
  if (c.has(3)) {
    const Values biases = g.op(
        "Split", {c.in(3), g.concat({size_of(g, in.q, -1), size_of(g, in.k, -1), size_of(g, in.v, -1)}, 0)}, {}, 3);
    in = {g.add(in.q, biases[0]), g.add(in.k, biases[1]), g.add(in.v, biases[2])};
  }
  return packed(c, in, c.in(4), c.in(5), c.in(6));
}

}  // namespace

constinit const OpDef defs::microsoft::PackedAttention = {
    .name = "PackedAttention", .domain = kMicrosoft, .infer = infer_by_body, .decompose = packed_attention};
constinit const OpDef defs::microsoft::PackedMultiHeadAttention = {.name = "PackedMultiHeadAttention",
                                                                   .domain = kMicrosoft,
                                                                   .infer = infer_by_body,
                                                                   .decompose = packed_multi_head_attention};
constinit const OpDef defs::microsoft::RemovePadding = {
    .name = "RemovePadding", .domain = kMicrosoft, .infer = infer_by_body, .decompose = remove_padding};
constinit const OpDef defs::microsoft::RestorePadding = {
    .name = "RestorePadding", .domain = kMicrosoft, .infer = infer_by_body, .decompose = restore_padding};

}  // namespace ingot::ops
