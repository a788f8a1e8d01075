#pragma once
#include "ingot/ops/builder.h"

namespace ingot::frontends::numeric {

// Matrices are the last two axes; any number of others stands before them.

/// Row and column numbers, int64, that broadcast against a matrix: [n, 1] and [1, n].
Value* row_numbers(GraphBuilder& g, Value* matrix);
Value* column_numbers(GraphBuilder& g, Value* matrix);
/// The last two axes exchanged; refuses an unknown rank.
Value* transposed_matrix(GraphBuilder& g, Value* matrix);
/// One row or column, its axis kept; `k` is int64 of rank 0.
Value* row_at(GraphBuilder& g, Value* matrix, Value* k);
Value* column_at(GraphBuilder& g, Value* matrix, Value* k);
Value* sum_of_rows(GraphBuilder& g, Value* matrix);  // [..., 1, n]
/// The first `count` (rank 1) columns.
Value* first_columns(GraphBuilder& g, Value* matrix, Value* count);
/// Ones on the diagonal, in the shape of a square matrix.
Value* unit_like(GraphBuilder& g, Value* matrix);
/// Zero of the same element type.
Value* zero_of(GraphBuilder& g, Value* like);

}  // namespace ingot::frontends::numeric
