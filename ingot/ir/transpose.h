#pragma once
#include <cstdint>
#include <vector>

#include "ingot/ir/tensor.h"

namespace ingot {

// Permutations of axes: new axis i is old axis perm[i].

template <class T> std::vector<T> permuted(const std::vector<T>& values, const std::vector<std::int64_t>& perm) {
  std::vector<T> moved;
  moved.reserve(perm.size());
  for (const std::int64_t i : perm) moved.push_back(values[static_cast<std::size_t>(i)]);
  return moved;
}

/// What brings the channels from the last axis to the second, behind the batch, and back.
std::vector<std::int64_t> to_channels_first(std::size_t rank);
std::vector<std::int64_t> to_channels_last(std::size_t rank);

/// Calls take(to, from) for each element of an array of these dimensions, `to` counting in the new order.
template <class Take>
void for_each_transposed(const Dims& dims, const std::vector<std::int64_t>& perm, const Take& take) {
  const Dims new_dims = permuted(dims, perm);
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  strides = permuted(strides, perm);
  Dims index(dims.size(), 0);
  const std::int64_t count = tensor_size(dims);
  std::int64_t from = 0;
  for (std::int64_t to = 0; to < count; ++to) {
    take(static_cast<std::size_t>(to), static_cast<std::size_t>(from));
    for (std::size_t d = dims.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < new_dims[d]) break;
      from -= strides[d] * new_dims[d];
      index[d] = 0;
    }
  }
}

/// The stored elements in the new order, of any element type. `perm` is a permutation of the tensor's axes.
Tensor transposed(const Tensor& tensor, const std::vector<std::int64_t>& perm);

}  // namespace ingot
