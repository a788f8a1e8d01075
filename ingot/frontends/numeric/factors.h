#pragma once
#include "ingot/ops/builder.h"

namespace ingot::frontends::numeric {

// Factors of real matrices, which are the last two axes.

/// The lower triangle whose product with its transpose is the matrix.
Value* cholesky(GraphBuilder& g, Value* matrix);

struct QrFactors {
  Value *q, *r;  // complete: q is square
};
/// By reflections.
QrFactors qr_factors(GraphBuilder& g, Value* matrix);

}  // namespace ingot::frontends::numeric
