#pragma once
#include "ingot/formats/tflite/model.h"

namespace ingot::backends::tflite {

/// Throws an error that names the operator if its kernel in TFLite does not take the types of its tensors: no
/// runtime would load the file. What the tables do not name may have any types.
void check_types(const formats::tflite::Model& model);
/// Whether check_types() takes the model.
bool has_known_types(const formats::tflite::Model& model);

}  // namespace ingot::backends::tflite
