// Heads of attention: packed and unpacked, and shared between queries.
#include "ingot/ops/nn/heads.h"

#include "ingot/ops/nn/sizes.h"

namespace ingot::ops {

Dim divide_heads(const InferContext& c, const Dim& packed, std::int64_t heads, std::string_view what) {
  if (packed.is_known() && packed.value() % heads)
    c.fail(std::string(what) + " of size " + packed.str() + " cannot be split into " + std::to_string(heads) +
           " heads");
  const Dim exact = exact_div(packed, heads);
  return exact.is_unknown() ? floor_div(packed, heads) : exact;
}

Value* split_heads(GraphBuilder& g, Value* x, std::int64_t heads) {
  return g.transpose(g.reshape(x, {0, 0, heads, -1}), {0, 2, 1, 3});
}

Value* share_heads(GraphBuilder& g, Value* x, const Dim& kv_heads, Value* query, const Dim& q_heads) {
  if (same(kv_heads, q_heads)) return x;
  const bool is_static = q_heads.is_known() && kv_heads.is_known() && kv_heads.value() > 0;
  Value* q_count = q_heads.is_known() ? g.ints({q_heads.value()}) : size_along(g, query, 1);
  Value* repeats = is_static ? g.ints({q_heads.value() / kv_heads.value()}) : g.div(q_count, size_along(g, x, 1));
  Value* ones = g.ints({1, 1});
  Value* repeated = g.op("Expand", {g.unsqueeze(x, {2}), g.concat({ones, repeats, ones}, 0)});
  return g.op("Reshape", {repeated, g.concat({g.ints({0}), q_count, size_along(g, x, 2), g.ints({-1})}, 0)});
}

}  // namespace ingot::ops
