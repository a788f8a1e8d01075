#pragma once
#include "ingot/ops/builder.h"

namespace ingot::frontends::numeric {

/// The error function, to the last digits of a double: for runtimes whose Erf takes floats only.
Value* erf_of_doubles(GraphBuilder& g, Value* x);

/// Where the normal distribution reaches the probability p, a double from 1.4e-11 to 1 - 1.4e-11.
Value* normal_quantile(GraphBuilder& g, Value* p);

}  // namespace ingot::frontends::numeric
