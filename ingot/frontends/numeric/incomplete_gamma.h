#pragma once
#include "ingot/ops/builder.h"

namespace ingot::frontends::numeric {

// Of values of double precision and of one shape.

/// The regularised incomplete gamma function of order a, from 0 to x, or what is missing to one.
Value* incomplete_gamma(GraphBuilder& g, Value* a, Value* x, bool is_upper);

/// The regularised incomplete beta function.
Value* incomplete_beta(GraphBuilder& g, Value* a, Value* b, Value* x);

}  // namespace ingot::frontends::numeric
