#pragma once
#include "ingot/frontends/tensorflow/scope.h"

namespace ingot::frontends::tensorflow {

// Graphs of the first kind say loops by Enter, Merge, Switch, NextIteration and Exit, and conditions by Switch and
// Merge. A whole loop is translated when one of its Exits is asked for, a condition with its Merge.

Operands old_loop(Translation& t, Scope& scope, std::int32_t exit);
Operands old_branch(Translation& t, Scope& scope, std::int32_t merge);

/// What must be translated before.
std::vector<NodeInScope> loop_needs(Scope& scope, std::int32_t exit);
std::vector<NodeInScope> branch_needs(Scope& scope, std::int32_t merge);

}  // namespace ingot::frontends::tensorflow
