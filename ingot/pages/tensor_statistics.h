#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ingot/ir/tensor.h"

namespace ingot::pages {

/// What the numbers of a tensor are like.
struct TensorStatistics {
  double least = 0, most = 0, mean = 0, deviation = 0;  // of those that are finite
  double zeros = 0;                                     // share of all elements
  std::uint64_t not_finite = 0;
  std::vector<std::uint64_t> histogram;  // from least to most
};

/// Nothing where elements are no real numbers, or none is finite. Reads the tensor in pieces and polls
/// current_budget().
std::optional<TensorStatistics> statistics_of(const Tensor& tensor);

}  // namespace ingot::pages
