#pragma once
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {

/// Files may leave out all shapes, but many operators take tensors of one rank only: their inputs are given it, and so
/// are the values, up to the model's inputs, that these have it from. True: a rank became known.
bool state_ranks(const tf::NodeDef& def, const Operands& inputs);

}  // namespace ingot::frontends::tensorflow
