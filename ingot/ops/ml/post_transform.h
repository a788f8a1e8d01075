#pragma once
#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"

namespace ingot::ops {

/// Refuses an attribute post_transform that names none.
void check_post_transform(const InferContext& c);
/// Scores [N, E] transformed as post_transform says; null where simpler operators cannot (PROBIT, SOFTMAX_ZERO).
Value* post_transformed(GraphBuilder& g, Value* scores, std::string_view transform);

}  // namespace ingot::ops
