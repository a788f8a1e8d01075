#pragma once
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {

/// Of values of double precision, x >= 1/2.
Value* log_gamma(GraphBuilder& g, Value* x);
Value* digamma_of_positive(GraphBuilder& g, Value* x);
/// Of values of double precision; infinite at -1 and 1.
Value* inverse_erf(GraphBuilder& g, Value* y);

}  // namespace ingot::frontends::tensorflow
