#pragma once
#include <string>

#include "ingot/ir/model.h"

namespace ingot::driver {

/// The model in the ONNX text syntax for people: long weights are left out.
std::string readable_text(const Model& model);

}  // namespace ingot::driver
