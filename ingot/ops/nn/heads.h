#pragma once
#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"

namespace ingot::ops {

/// The size of one head of `heads` packed into one axis; refuses sizes that cannot be split.
Dim divide_heads(const InferContext& c, const Dim& packed, std::int64_t heads, std::string_view what);

/// [B, S, H*D] -> [B, H, S, D].
Value* split_heads(GraphBuilder& g, Value* x, std::int64_t heads);
/// Keys or values [B, Hkv, S, D] repeated so that each of the query's [B, Hq, ...] heads has its own.
Value* share_heads(GraphBuilder& g, Value* x, const Dim& kv_heads, Value* query, const Dim& q_heads);

}  // namespace ingot::ops
