#pragma once
#include "ingot/ir/model.h"
#include "ingot/ops/infer.h"

namespace ingot::passes {

/// Sets a session up for this model: its functions, and what its IR version says of defaults.
void prepare(ops::InferSession& session, const Model& model);

}  // namespace ingot::passes
