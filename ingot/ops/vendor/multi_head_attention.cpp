// com.microsoft.MultiHeadAttention: projected queries, keys and values in several forms.
#include <limits>

#include "ingot/ops/vendor/attention_body.h"
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

/// Queries, keys and values with heads first.
struct Heads {
  Value *q = nullptr, *k = nullptr, *v = nullptr;
};

/// The part of the bias for queries (0), keys (1) or values (2); null: there is no bias.
Value* bias_part(DecomposeContext& c, int part) {
  if (!c.has(3)) return nullptr;
  const Shape& q = *c.in(0)->type.shape;
  if (q.size() != 3 || !q[2].is_known()) return nullptr;
  const std::int64_t width = q[2].value();
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  return slice(c.g, c.in(3), 0, part * width, part == 2 ? kEnd : (part + 1) * width);
}

Value* with_bias(DecomposeContext& c, Value* x, int part) {
  Value* bias = bias_part(c, part);
  return bias ? c.g.add(x, bias) : x;
}

Heads heads_of(DecomposeContext& c, std::int64_t heads) {
  GraphBuilder& g = c.g;
  const auto q_rank = c.rank(0), k_rank = c.rank(1);
  if (q_rank == 5) {  // [B,S,N,3,H]
    const Values parts = g.op("Split", {c.in(0)}, {{"axis", 3}, {"num_outputs", 3}}, 3);
    const auto heads_first = [&](Value* v) { return g.transpose(g.squeeze(v, {3}), {0, 2, 1, 3}); };
    return {heads_first(parts[0]), heads_first(parts[1]), heads_first(parts[2])};
  }
  if (q_rank != 3 || !k_rank) return {};
  if (c.has(3) && !c.in(0)->type.shape->at(2).is_known()) return {};
  Heads found;
  found.q = split_heads(g, with_bias(c, c.in(0), 0), heads);
  if (*k_rank == 5 && !c.has(2)) {  // [B,L,N,2,H]
    const Values parts = g.op("Split", {c.in(1)}, {{"axis", 3}, {"num_outputs", 2}}, 2);
    found.k = g.transpose(g.squeeze(parts[0], {3}), {0, 2, 1, 3});
    found.v = g.transpose(g.squeeze(parts[1], {3}), {0, 2, 1, 3});
  } else if (*k_rank == 4 && c.has(2)) {  // of another sequence, ready to use
    found.k = c.in(1);
    found.v = c.in(2);
  } else if (*k_rank == 3 && c.has(2)) {
    found.k = split_heads(g, with_bias(c, c.in(1), 1), heads);
    found.v = split_heads(g, with_bias(c, c.in(2), 2), heads);
  }
  return found;
}

/// What is added to the scores has columns for what came before, too, also where that does not count: the first columns
/// are those of the keys.
Value* bias_for_keys(GraphBuilder& g, Value* bias, const Value* keys) {
  const auto columns = bias ? last_size(bias) : std::nullopt;
  if (!columns || !keys->type.shape || keys->type.shape->size() != 4) return bias;
  const Dim& rows = keys->type.shape->at(2);
  if (!rows.is_known() || *columns <= rows.value()) return bias;
  return slice(g, bias, -1, 0, rows.value());
}

Values multi_head_attention(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t heads = c.attr("num_heads", std::int64_t{0});
  // Where a cache goes on matters where there is one.
  if (heads <= 0 || (c.has(6) && (c.has(8) || c.has(9)))) return {};
  Heads in = heads_of(c, heads);
  if (!in.k || !in.v) return {};
  // What came before counts only where the whole is asked for, too.
  const bool keeps = c.wants(1) && c.wants(2);
  Value* before = g.index(0);
  if (keeps && c.has(6) && c.has(7)) {
    before = count_of(g, c.in(6), 2);
    in.k = g.concat({c.in(6), in.k}, 2);
    in.v = g.concat({c.in(7), in.v}, 2);
  }
  Value* bias = c.has(6) && !keeps ? bias_for_keys(g, c.in(5), in.k) : c.in(5);
  MaskParts parts{c.in(4), bias, static_cast<double>(c.attr("mask_filter_value", -10000.0f)),
                  c.attr("unidirectional", std::int64_t{0}) != 0, before};
  const auto mask = mask_of(g, in.q, in.k, parts);
  const auto scale = scale_of(in.q, c.attr("scale", 0.0f));
  if (!mask || !scale) return {};
  const Attended made = attend(g, in.q, in.k, in.v, *scale, *mask);
  const auto out = [&](Value* v) { return v->producer() ? v : g.op("Identity", {v}); };
  return {join_heads(g, made.y), keeps ? out(in.k) : nullptr, keeps ? out(in.v) : nullptr,
          c.wants(3) ? made.scores : nullptr};
}

}  // namespace

constinit const OpDef defs::microsoft::MultiHeadAttention = {
    .name = "MultiHeadAttention", .domain = kMicrosoft, .infer = infer_by_body, .decompose = multi_head_attention};

}  // namespace ingot::ops
