#pragma once
#include "ingot/ops/builder.h"

namespace ingot::frontends::numeric {

/// Of values of double precision; infinite at -1 and 1.
Value* inverse_erf(GraphBuilder& g, Value* y);

}  // namespace ingot::frontends::numeric
