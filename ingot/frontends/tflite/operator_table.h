#pragma once
#include "ingot/formats/tflite/model.h"
#include "ingot/frontends/translator.h"

namespace ingot::frontends::tflite {

class Op;

/// What is asked before an operator is translated.
struct Guard {
  bool takes_complex = false;  ///< knows that complex numbers stand as pairs of floats
  /// Whether ONNX has no words for this use of it, so that it becomes a function of the model. Null: it never does.
  bool (*becomes_function)(const Op&) = nullptr;
};

/// Custom operators are named as "CUSTOM:TFLite_Detection_PostProcess".
using Row = Translator<void(Op&), Guard>;

/// All rows, sorted by name.
std::span<const Row> all_rows();
/// Null if there is no translation.
const Row* find_row(const formats::tflite::OperatorCode& code);

}  // namespace ingot::frontends::tflite
