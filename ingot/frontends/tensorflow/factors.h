#pragma once
#include "ingot/frontends/tensorflow/repeat.h"

namespace ingot::frontends::tensorflow {

// Matrices are the last two axes; any number of others stands before them.

/// Row and column numbers, int64, that broadcast against a matrix: [n, 1] and [1, n].
Value* row_numbers(GraphBuilder& g, Value* matrix);
Value* column_numbers(GraphBuilder& g, Value* matrix);
/// The last two axes exchanged.
Value* transposed_matrix(const TfNode& n, GraphBuilder& g, Value* matrix);
/// One row or column, its axis kept; `k` is int64 of rank 0.
Value* row_at(GraphBuilder& g, Value* matrix, Value* k);
Value* column_at(GraphBuilder& g, Value* matrix, Value* k);
Value* sum_of_rows(GraphBuilder& g, Value* matrix);     // [..., 1, n]
Value* sum_of_columns(GraphBuilder& g, Value* matrix);  // [..., m, 1]
/// Ones on the diagonal, in the shape of a square matrix.
Value* unit_like(GraphBuilder& g, Value* matrix);
/// What solves matrix * x = right, by elimination with pivots.
Value* solved(GraphBuilder& g, Value* matrix, Value* right);

struct QrFactors {
  Value *q, *r;  // complete: q is square
};
QrFactors qr_factors(GraphBuilder& g, Value* matrix);

}  // namespace ingot::frontends::tensorflow
