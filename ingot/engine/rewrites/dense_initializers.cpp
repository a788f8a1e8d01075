// Sparse initializers as arrays.
#include "ingot/engine/rewrites/dense_initializers.h"

#include <algorithm>

#include "ingot/base/error.h"

namespace ingot::engine {
namespace {

Array dense(const SparseTensor& sparse, const std::string& name, Ledger& ledger) {
  const Array values = Array::from(sparse.values);
  const std::vector<std::int64_t> indices = sparse.indices.to_ints();
  Array array = ledger.allocate(values.dtype(), sparse.dims);
  const auto count = static_cast<std::size_t>(values.size());
  const std::size_t rank = sparse.dims.size();
  const bool is_linear = sparse.indices.rank() == 1;
  bool is_good = values.dtype() != DType::string && indices.size() == (is_linear ? count : count * rank);
  const std::size_t width = count ? values.byte_size() / count : 0;
  for (std::size_t i = 0; i < count && is_good; ++i) {
    std::int64_t at = is_linear ? indices[i] : 0;
    for (std::size_t axis = 0; axis < rank && !is_linear; ++axis) {
      const std::int64_t index = indices[i * rank + axis];
      is_good &= index >= 0 && index < sparse.dims[axis];
      at = is_good ? at * sparse.dims[axis] + index : 0;
    }
    is_good &= at >= 0 && at < array.size();
    if (is_good) std::copy_n(values.bytes() + i * width, width, array.bytes() + static_cast<std::size_t>(at) * width);
  }
  if (!is_good) throw Error(Code::bad_sparse_tensor, "the sparse initializer '" + name + "' is not well formed");
  return array;
}

}  // namespace

void make_initializers_dense(Graph& root, Ledger& ledger) {
  for_each_graph(root, [&](Graph& graph) {
    for (Value* v : graph.initializers()) {
      if (!v->sparse_initializer) continue;
      v->initializer = dense(*v->sparse_initializer, v->name(), ledger).to_tensor();
      v->sparse_initializer.reset();
    }
  });
}

}  // namespace ingot::engine
