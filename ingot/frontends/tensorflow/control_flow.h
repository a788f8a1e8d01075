#pragma once
#include <functional>
#include <vector>

#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {

/// Puts nodes into the graph of a branch or round and gives what they make of the state.
using Step = std::function<Operands(Graph&, const Operands&)>;

/// A Loop: `condition` gives one boolean, `step` the state after a round; invariant state is not carried.
Operands loop(GraphBuilder& g, const Operands& start, const std::vector<bool>& invariant, const Step& condition,
              const Step& step);
/// An If.
Operands branch(GraphBuilder& g, Value* condition, const Step& then_branch, const Step& else_branch);

bool any_missing(const Operands& operands);
/// What stands for the outputs of a node that could not be translated.
inline Operands missing() { return {Operand{nullptr, nullptr, true}}; }

}  // namespace ingot::frontends::tensorflow
