// Sparse tensors for kernels, all of which take dense ones.
#include "ingot/engine/dense.h"

#include <cstring>

#include "ingot/base/error.h"

namespace ingot::engine {
namespace {

/// Where each stored value goes. Indices are either places in the row of all elements or one tuple per value.
std::vector<std::int64_t> places_of(const SparseTensor& sparse) {
  const std::vector<std::int64_t> indices = sparse.indices.to_ints();
  const auto count = static_cast<std::size_t>(sparse.values.size()), rank = sparse.dims.size();
  const std::int64_t size = tensor_size(sparse.dims);
  const bool is_row = sparse.indices.dims().size() == 1;
  if (indices.size() != (is_row ? count : count * rank))
    throw Error(Code::bad_sparse_tensor, "a sparse tensor has not one index per value");
  std::vector<std::int64_t> places;
  places.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t place = is_row ? indices[i] : 0;
    for (std::size_t k = 0; !is_row && k < rank; ++k) {
      const std::int64_t index = indices[i * rank + k];
      if (index < 0 || index >= sparse.dims[k])
        throw Error(Code::bad_sparse_tensor, "an index of a sparse tensor is out of range");
      place = place * sparse.dims[k] + index;
    }
    if (place < 0 || place >= size) throw Error(Code::bad_sparse_tensor, "an index of a sparse tensor is out of range");
    places.push_back(place);
  }
  return places;
}

}  // namespace

Array dense(const SparseTensor& sparse, Ledger& ledger) {
  const std::vector<std::int64_t> places = places_of(sparse);
  const Array values = Array::from(sparse.values);
  Array y = ledger.allocate(values.dtype(), sparse.dims);
  if (places.empty()) return y;
  if (values.dtype() == DType::string) {
    const auto from = values.data<std::string>();
    const auto to = y.mutable_data<std::string>();
    for (std::size_t i = 0; i < places.size(); ++i) to[static_cast<std::size_t>(places[i])] = from[i];
    return y;
  }
  const std::size_t bytes = values.byte_size() / places.size();
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(y.bytes() + static_cast<std::size_t>(places[i]) * bytes, values.bytes() + i * bytes, bytes);
  return y;
}

}  // namespace ingot::engine
