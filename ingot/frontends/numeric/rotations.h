#pragma once
#include "ingot/ops/builder.h"

namespace ingot::frontends::numeric {

// What rotations of pairs of columns find, in as many sweeps as double precision needs. Matrices are the last two axes.

struct Eigen {
  Value* values;   // [..., n], ascending
  Value* vectors;  // [..., n, n]: columns, not yet in that order
  Value* order;    // [..., n]: of the columns
};
/// Of a symmetric matrix of double precision.
Eigen eigen(GraphBuilder& g, Value* matrix);

/// The columns of x in this order.
Value* ordered_columns(GraphBuilder& g, Value* x, Value* order);

struct SingularValues {
  Value* values;               // [..., min(m, n)], descending
  Value *all, *order;          // [..., n]: with those that are zero; of the columns
  Value *columns, *rotations;  // [..., m, n] = u * values, [..., n, n] = v: not yet in that order
  Value* count;                // [1]: min(m, n)
};
/// Of a matrix [..., m, n] of double precision.
SingularValues singular_values(GraphBuilder& g, Value* matrix);

struct SingularVectors {
  Value *u, *v;  // in columns
};
/// As many of each as there are values, or all.
SingularVectors singular_vectors(GraphBuilder& g, const SingularValues& s, bool is_full);

}  // namespace ingot::frontends::numeric
