#pragma once
#include <string>

#include "ingot/ir/opaque_model.h"

namespace ingot {

/// The bytes of a .onnx file, weights and all: what load_memory() reads.
std::string save_memory(const Model& model);

}  // namespace ingot
