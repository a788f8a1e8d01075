#pragma once
#include "ingot/driver/format.h"

/// The rows of the format table, a file each; format.cpp lists them.
namespace ingot::driver::rows {

extern const Format kCatboost, kJson, kKeras, kLiblinear, kLibsvm, kLightgbm, kOnnx, kOnnxText, kPandas, kSafetensors,
    kSavedModel, kSklearn, kTensorflow, kTensorflowJs, kTflite, kTorch, kTorchSource, kXgboost;

}  // namespace ingot::driver::rows
