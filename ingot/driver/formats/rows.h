#pragma once
#include "ingot/driver/format.h"

/// The rows of the format table, a file each; format.cpp lists them.
namespace ingot::driver::rows {

extern const Format kJson, kKeras, kOnnx, kOnnxText, kSavedModel, kTensorflow, kTensorflowJs, kTflite;

}  // namespace ingot::driver::rows
