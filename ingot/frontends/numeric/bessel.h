#pragma once
#include "ingot/ops/builder.h"

namespace ingot::frontends::numeric {

/// The modified Bessel function of the first kind, I0 or I1, of values of double precision; scaled: times e^-|x|.
Value* bessel(GraphBuilder& g, Value* x, int order, bool is_scaled);

}  // namespace ingot::frontends::numeric
