#pragma once
#include "ingot/ir/graph.h"

namespace ingot::train {

/// Whether these are integers of QuantizeLinear that only DequantizeLinear reads: gradients pass straight through both,
/// as if nothing were rounded.
bool stands_for_reals(const Value* v);

/// One value that is differentiated: d loss / d value is `weight`, of the same shape; null: ones.
struct Seed {
  Value* of = nullptr;
  Value* weight = nullptr;
};

/// Extends the graph, which must be of the newest operator sets with types inferred, by nodes that compute
/// d(of)/d(value) for each of `wrt`, and returns those gradients, each with the type of its value. `of` is a scalar,
/// or is taken as the sum of its elements; `seed`, if given, weights them. A value that `of` does not depend on
/// gets zeros. Nothing flows back through values named in `stops`. Operators without a rule are first expressed in
/// simpler ones. Throws one Error that lists every operator on the way that has no gradient. Values whose operators
/// were replaced keep their names, not their addresses.
Values differentiate(Value* of, const Values& wrt, Value* seed = nullptr, const std::vector<std::string>& stops = {});
/// The same for several values at once. `wrt` may be values of outer graphs. Null entries: no dependence.
Values differentiate(Graph& graph, const std::vector<Seed>& seeds, const Values& wrt,
                     const std::vector<std::string>& stops = {});

}  // namespace ingot::train
