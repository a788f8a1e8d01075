#pragma once
#include "ingot/ops/builder.h"

namespace ingot::frontends::numeric {

// Of values of double precision.

/// The logarithm of the gamma function's size; for x >= 1/2, for x > 0, for any x.
Value* log_gamma_from_half(GraphBuilder& g, Value* x);
Value* log_gamma_of_positive(GraphBuilder& g, Value* x);
Value* log_gamma(GraphBuilder& g, Value* x);

/// Its derivative.
Value* digamma_of_positive(GraphBuilder& g, Value* x);
Value* digamma(GraphBuilder& g, Value* x);

}  // namespace ingot::frontends::numeric
