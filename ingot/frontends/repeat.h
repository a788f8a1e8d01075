#pragma once
#include <functional>

#include "ingot/frontends/values.h"

namespace ingot::frontends {

/// What one round makes of the state: the next state, then what is collected.
using Round = std::function<Values(GraphBuilder& g, Value* round, const Values& state)>;

/// A Loop of `rounds` (int64, rank 0) rounds. Gives the last state, then what each further value of a round was,
/// stacked along a new first axis. The rounds may read values from around the loop.
Values repeat(GraphBuilder& g, Value* rounds, const Values& start, const Round& round);

/// A Loop while the last value that a round gives, a boolean of rank 0, holds; at least one round. The state only.
Values repeat_while(GraphBuilder& g, const Values& start, const Round& round);

}  // namespace ingot::frontends
