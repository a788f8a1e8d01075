#pragma once
#include "ingot/ops/infer.h"

namespace ingot::ops {

/// Refuses a list of axes, or of what each axis gets, that is longer than any tensor needs. Inference does not look
/// into long lists, and who writes the node for another framework would believe them.
inline void require_short_list(const InferContext& c, std::size_t input, std::int64_t most = kMostDims) {
  const auto count = c.dim(input, 0).as_int();
  c.require(!count || *count <= most, "a list names more axes than any tensor has");
}

}  // namespace ingot::ops
