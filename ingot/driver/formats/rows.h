#pragma once
#include "ingot/driver/format.h"

/// The rows of the format table, a file each; format.cpp lists them.
namespace ingot::driver::rows {

extern const Format kCatboost, kJson, kLiblinear, kLibsvm, kLightgbm, kOnnx, kOnnxText, kSavedModel, kTensorflow,
    kTensorflowJs, kTflite, kSklearn, kXgboost;

}  // namespace ingot::driver::rows
