#pragma once
#include "ingot/backends/tflite/emitter.h"

namespace ingot::backends::tflite {

/// Joins operators where the way through ONNX has taken them apart: reshapes of reshapes, transposes of transposes,
/// 1 / sqrt(x), (a - b) * (a - b). The results stay the same to the last bit, except that of the reciprocal root.
void simplify(Output& output);

}  // namespace ingot::backends::tflite
