#pragma once
#include <span>
#include <string_view>

#include "ingot/formats/tflite/model.h"

namespace ingot::frontends::tflite {

class Op;

/// How one operator of TFLite is said in ONNX.
struct Row {
  std::string_view name;  ///< "CONV_2D", "CUSTOM:TFLite_Detection_PostProcess"
  void (*translate)(Op&);
  bool takes_complex = false;  ///< knows that complex numbers stand as pairs of floats
  /// Whether ONNX has no words for this use of it, so that it becomes a function of the model. Null: it never does.
  bool (*is_apart)(const Op&) = nullptr;
};

/// All rows, sorted by name.
std::span<const Row> all_rows();
/// Null if there is no translation.
const Row* find_row(const formats::tflite::OperatorCode& code);

}  // namespace ingot::frontends::tflite
