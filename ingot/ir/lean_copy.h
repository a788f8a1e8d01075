#pragma once
#include "ingot/ir/model.h"

namespace ingot {

/// A copy without those arrays of trees that are as long as they should be: for whoever asks for the types of values, of
/// which they say nothing. A forest's are hundreds of megabytes, and unlike tensors they are not shared by copies.
Model lean_copy(const Model& model);

}  // namespace ingot
