#pragma once
#include <functional>

#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {

/// What one round makes of the state: the next state, then what is collected.
using Round = std::function<Values(GraphBuilder& g, Value* round, const Values& state)>;

/// A Loop of `rounds` (int64, rank 0) rounds. Gives the last state, then what each further value of a round was,
/// stacked along a new first axis. The rounds may read values from around the loop.
Values repeat(GraphBuilder& g, Value* rounds, const Values& start, const Round& round);

/// A Loop while the last value that a round gives, a boolean of rank 0, holds; at least one round. The state only.
Values repeat_while(GraphBuilder& g, const Values& start, const Round& round);

/// 0 .. count - 1, int64; `count` has rank 0.
Value* counted(GraphBuilder& g, Value* count);
/// The size of an axis, int64 of rank 0.
Value* size_of(GraphBuilder& g, Value* x, std::int64_t axis);

}  // namespace ingot::frontends::tensorflow
