#pragma once
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {

/// The angle of the point (x, y).
Value* angle_of(GraphBuilder& g, Value* y, Value* x);

// Arithmetic on pairs along a last axis of size 2.
Values complex_add(const TfNode& n, GraphBuilder& g);
Values complex_sub(const TfNode& n, GraphBuilder& g);
Values complex_mul(const TfNode& n, GraphBuilder& g);

}  // namespace ingot::frontends::tensorflow
