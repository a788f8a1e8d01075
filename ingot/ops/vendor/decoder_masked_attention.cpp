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

/// Beams of an entry of the batch that change places leave their caches where they are: for each of [entry, beam,
/// place] `from` tells the beam whose row it is. The new row is the beam's own.
Value* of_beams(GraphBuilder& g, Value* cache, Value* from, Value* place) {
  Value *beams = size_of(g, from, 1), *sizes = g.shape(cache);  // [entry * beam, N, M, H]
  Value* rest = g.op("Slice", {sizes, g.ints({1}), g.ints({4})});
  Value* whole = g.concat({g.ints({-1}), beams, rest}, 0);
  Value* by_beam = g.op("Reshape", {cache, whole});
  Value* own = g.unsqueeze(g.op("Range", {g.index(0), g.squeeze(beams, {0}), g.index(1)}), {0, 2});  // [1, beam, 1]
  Value* at = g.op("Range", {g.index(0), count_of(g, cache, 2), g.index(1)});
  Value* beam = g.where(g.op("Less", {at, place}), g.cast(from, DType::i64), own);  // [entry, beam, M]
  Value* each = g.op("Expand", {g.unsqueeze(beam, {2, 4}), g.shape(by_beam)});
  return g.op("Reshape", {g.op("GatherElements", {by_beam, each}, {{"axis", 1}}), sizes});
}

Values decoder_masked_attention(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t heads = c.attr("num_heads", std::int64_t{0});
  if (heads <= 0 || c.rank(kQuery) != 3) return {};
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
    const auto seen = [&](Value* cache) {
      if (c.has(kIndirection)) cache = of_beams(g, cache, c.in(kIndirection), place);
      return g.op("Slice", {cache, g.ints({0}), end, g.ints({2})});
    };
    k = seen(whole_key);
    v = seen(whole_value);
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
