#pragma once
#include "ingot/ops/builder.h"

namespace ingot::frontends::numeric {

// Of values of double precision and of one shape.

/// The sum of (q + k)^-s over k >= 0, for s > 1 and q > 0.
Value* hurwitz_zeta(GraphBuilder& g, Value* s, Value* q);

/// Derivative number `order` of digamma, for x > 0; not a number unless the order is a whole number from 0 on.
Value* polygamma(GraphBuilder& g, Value* order, Value* x);

}  // namespace ingot::frontends::numeric
