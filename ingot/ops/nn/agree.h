#pragma once
#include <string_view>

#include "ingot/ops/infer.h"

namespace ingot::ops {

/// One size that stands in two places: refuses sizes that cannot be equal, else returns what is known best.
Dim agree(const InferContext& c, const Dim& a, const Dim& b, std::string_view what);
/// Refuses input i unless its rank is `rank` or not known.
void require_rank(const InferContext& c, std::size_t i, std::int64_t rank, std::string_view what);
/// Refuses input i unless it may be a vector of `size` elements; returns what is known of that size.
Dim require_vector(const InferContext& c, std::size_t i, const Dim& size, std::string_view what);

}  // namespace ingot::ops
