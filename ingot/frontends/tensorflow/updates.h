#pragma once
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {

/// What a node that reads the variable sees: its new value if the node waits for the update.
Value* value_after(const TfNode& n, Value* variable);

}  // namespace ingot::frontends::tensorflow
