#pragma once
#include "ingot/ir/model.h"

namespace ingot::verify {

/// What a variant of a test case hides from the runtime.
enum class UnknownShapes {
  none,
  symbolic,  // every dimension of an input becomes a name of its own
  rank,      // no shape at all
};

/// Makes the shapes of the model's inputs unknown and drops what the main graph states about other values; results
/// stay the same for a runtime that works with any shape. Inputs with a default keep their shape.
void hide_shapes(Model& model, UnknownShapes how);

}  // namespace ingot::verify
