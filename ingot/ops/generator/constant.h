#pragma once
#include "ingot/ir/graph.h"

namespace ingot::ops {

/// The short forms of a Constant (value_ints, value_float, ...) become a tensor, which is what all others look for.
void spell_out_constant(Node& node);

}  // namespace ingot::ops
