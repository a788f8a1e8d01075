#pragma once
#include "ingot/ops/compute.h"

namespace ingot::ops {

/// Refuses indices of GatherElements or ScatterElements whose shape does not go with the data's.
void check_indices(const KernelContext& c, const Dims& data, const Dims& indices, std::int64_t axis);

/// Where in the data each element of the indices of GatherElements or ScatterElements points, along an axis.
Array places_of_elements(KernelContext& c, const Array& data, const Array& indices, std::int64_t axis);

/// Slices of the data that index tuples (the last dimension of the indices) point to: where each begins, and how many
/// elements it has. The first `batch` dimensions of data and indices go together.
struct Slices {
  Array places;
  std::int64_t size;
  Dims dims;  // of all slices together
};
Slices slices_of_tuples(KernelContext& c, const Array& data, const Array& indices, std::int64_t batch);

}  // namespace ingot::ops
