#pragma once
#include "ingot/ir/graph.h"

namespace ingot::train {

/// Extends the graph, which must be of the newest operator sets with types inferred, by nodes that compute
/// d(of)/d(value) for each of `wrt`, and returns those gradients, each with the type of its value. `of` is a scalar,
/// or is taken as the sum of its elements; `seed`, if given, weights them. A value that `of` does not depend on
/// gets zeros. Operators without a rule are first expressed in simpler ones. Throws one Error that lists every
/// operator on the way that has no gradient.
Values differentiate(Value* of, const Values& wrt, Value* seed = nullptr);

}  // namespace ingot::train
