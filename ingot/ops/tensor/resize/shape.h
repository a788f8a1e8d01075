#pragma once
#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"

namespace ingot::ops {

/// Whether a list (the region, scales, sizes) is there: in older files an empty tensor stands for an absent one. Before
/// a run, a list of unknown length counts as given.
bool is_given(const Node& node, std::size_t input);
bool is_given(const KernelContext& c, std::size_t input);

/// floor(size * scale) in single precision, as runtimes compute it; of a symbolic size where the scale is a fraction
/// that is exact. Unknown for scales that are not positive.
Dim scaled_size(const Dim& size, double scale);

/// The one scale of a resize that keeps the aspect ratio: the smallest or largest of sizes[i] / dims[i]; nothing where
/// a dimension is zero.
std::optional<double> common_scale(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& dims,
                                   bool not_larger);
/// The size such a resize gives a dimension: scaled and rounded, halves up.
std::int64_t rounded_size(std::int64_t dim, double scale);

}  // namespace ingot::ops
