#pragma once
#include "ingot/ops/builder.h"

namespace ingot::frontends::numeric {

/// The error function, to the last digits of a double: for runtimes whose Erf takes floats only.
Value* erf_of_doubles(GraphBuilder& g, Value* x);

}  // namespace ingot::frontends::numeric
