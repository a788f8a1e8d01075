#pragma once
#include "ingot/ops/builder.h"

namespace ingot::frontends::numeric {

// Gauss's elimination with pivots: one Loop over the columns. Matrices are the last two axes.

/// What solves matrix * x = right.
Value* solve(GraphBuilder& g, Value* matrix, Value* right);

struct LogDeterminant {
  Value *sign, *log;  // [..., 1, 1]: the determinant's sign and the logarithm of its size
};
LogDeterminant log_determinant(GraphBuilder& g, Value* matrix);

struct LuFactors {
  Value* lu;     // both in one matrix, the ones on the lower one's diagonal left out
  Value* order;  // [..., n, 1] int64: of the rows
};
LuFactors lu(GraphBuilder& g, Value* matrix);

}  // namespace ingot::frontends::numeric
