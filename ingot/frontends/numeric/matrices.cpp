// Rows, columns and units of matrices.
#include "ingot/frontends/numeric/matrices.h"

#include <numeric>

#include "ingot/base/error.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::numeric {

Value* row_numbers(GraphBuilder& g, Value* matrix) { return g.unsqueeze(counted(g, size_of(g, matrix, -2)), {1}); }
Value* column_numbers(GraphBuilder& g, Value* matrix) { return g.unsqueeze(counted(g, size_of(g, matrix, -1)), {0}); }
Value* row_at(GraphBuilder& g, Value* matrix, Value* k) {
  return g.op("Gather", {matrix, g.unsqueeze(k, {0})}, {{"axis", -2}});
}
Value* column_at(GraphBuilder& g, Value* matrix, Value* k) {
  return g.op("Gather", {matrix, g.unsqueeze(k, {0})}, {{"axis", -1}});
}
Value* sum_of_rows(GraphBuilder& g, Value* matrix) { return g.reduce_sum(matrix, {-2}); }

Value* transposed_matrix(GraphBuilder& g, Value* matrix) {
  const auto rank = rank_of(matrix);
  if (!rank || *rank < 2) throw Error(Code::unsupported_setting, "the rank of a matrix must be known");
  std::vector<std::int64_t> perm(static_cast<std::size_t>(*rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return g.transpose(matrix, perm);
}

Value* first_columns(GraphBuilder& g, Value* matrix, Value* count) {
  return g.op("Slice", {matrix, g.ints({0}), count, g.ints({-1})});
}

Value* unit_like(GraphBuilder& g, Value* matrix) {
  Value* rows = row_numbers(g, matrix);
  Value* unit = g.cast(g.op("Equal", {rows, column_numbers(g, matrix)}), matrix->type.elem);
  return g.op("Expand", {unit, g.shape(matrix)});
}

Value* zero_of(GraphBuilder& g, Value* like) { return g.scalar(0, like->type.elem); }

}  // namespace ingot::frontends::numeric
