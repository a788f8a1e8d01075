#pragma once
#include "ingot/ops/builder.h"

namespace ingot::frontends::numeric {

/// A constant of double precision.
inline Value* f64(GraphBuilder& g, double v) { return g.scalar(v, DType::f64); }

}  // namespace ingot::frontends::numeric
