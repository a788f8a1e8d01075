#pragma once
#include <string>

#include "ingot/ir/model.h"

namespace ingot::backends::mlir {

/// The model in the ONNX dialect of onnx-mlir, in generic form: operators of the newest versions, weights included.
/// Functions must be inlined and operators be of their newest version. Everything that the dialect has no words for is
/// listed in one error.
std::string onnx_dialect(const Model& model);

}  // namespace ingot::backends::mlir
