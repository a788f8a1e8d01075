// com.microsoft.DecoderMaskedMultiHeadAttention: one more row against a cache of fixed length, or another sequence.
#include "ingot/ops/vendor/attention_body.h"
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

enum Input : std::size_t {
  kQuery,
  kKey,
  kValue,
  kMask,
  kBias,
  kPastKey,
  kPastValue,
  kPastLength,
  kBeams,
  kIndirection,
  kQkvBias
};

/// The cache with the new row at its place.
Value* written(GraphBuilder& g, Value* cache, Value* row, Value* place) {
  Value* at = g.op("Range", {g.index(0), count_of(g, cache, 2), g.index(1)});
  Value* is_new = g.unsqueeze(g.op("Equal", {at, place}), {1});  // [M, 1]
  return g.where(is_new, row, cache);
}

Values decoder_masked_attention(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t heads = c.attr("num_heads", std::int64_t{0});
  if (heads <= 0 || c.has(kBeams) || c.has(kIndirection) || c.rank(kQuery) != 3) return {};
  Value *query = c.in(kQuery), *key = c.in(kKey), *value = c.in(kValue);
  const bool is_cross = !c.has(kPastKey);
  if (is_cross && c.rank(kKey) != 4) return {};
  if (!is_cross && (!c.has(kPastValue) || !c.has(kPastLength))) return {};
  if (!is_cross && !key) {
    const Values parts = g.op("Split", {query}, {{"axis", 2}, {"num_outputs", 3}}, 3);
    query = parts[0];
    key = parts[1];
    value = parts[2];
  }
  if (c.has(kQkvBias)) {
    const Values parts = g.op("Split", {c.in(kQkvBias)}, {{"axis", 0}, {"num_outputs", 3}}, 3);
    query = g.add(query, parts[0]);
    if (!is_cross) {
      key = g.add(key, parts[1]);
      value = g.add(value, parts[2]);
    }
  }
  Value* q = split_heads(g, query, heads);
  Value *k = key, *v = value, *whole_key = nullptr, *whole_value = nullptr;
  if (!is_cross) {
    Value* place = g.cast(g.reshape(c.in(kPastLength), {}), DType::i64);
    whole_key = written(g, c.in(kPastKey), split_heads(g, key, heads), place);
    whole_value = written(g, c.in(kPastValue), split_heads(g, value, heads), place);
    Value* end = g.unsqueeze(g.add(place, g.index(1)), {0});
    k = g.op("Slice", {whole_key, g.ints({0}), end, g.ints({2})});
    v = g.op("Slice", {whole_value, g.ints({0}), end, g.ints({2})});
  }
  const auto mask =
      mask_of(g, q, k, {c.in(kMask), c.in(kBias), static_cast<double>(c.attr("mask_filter_value", -10000.0f)), false});
  const auto scale = scale_of(q, c.attr("scale", 0.0f));
  if (!mask || !scale) return {};
  const Attended made = attend(g, q, k, v, *scale, *mask);
  return {join_heads(g, made.y), whole_key, whole_value, c.wants(3) ? made.scores : nullptr};
}

}  // namespace

constinit const OpDef defs::microsoft::DecoderMaskedMultiHeadAttention = {.name = "DecoderMaskedMultiHeadAttention",
                                                                          .domain = kMicrosoft,
                                                                          .infer = infer_by_body,
                                                                          .decompose = decoder_masked_attention};

}  // namespace ingot::ops
