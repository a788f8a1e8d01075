#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/formats/tflite/model.h"
#include "ingot/ir/model.h"

namespace ingot::frontends::tflite {

struct ImportOptions {
  /// Quantised tensors become float: constants are expanded, inputs and outputs change their type.
  bool dequantize = false;
  /// The signature whose subgraph is taken; empty: the main subgraph.
  std::string signature;
  /// Names of tensors to cut the graph at; empty: its own inputs and outputs.
  std::vector<std::string> inputs, outputs;
  std::vector<std::pair<std::string, Shape>> input_shapes;
  /// "Op" or "Op:domain": operators that stay as custom nodes.
  std::vector<std::string> allow_custom;
};

struct Imported {
  Model model;
  std::vector<std::string> notes;  ///< what the reader of a report should know, a line each
};

/// Translates a TFLite model into the newest ONNX operator sets. Spatial operators stand between transposes from and to
/// NHWC. Throws one Error that lists every operator that has no translation, with its reason.
Imported import_model(const formats::tflite::Model& source, const ImportOptions& options = {});

/// The builtin operators that have a translation, sorted by name; custom ones as "CUSTOM:name".
std::vector<std::string> translated_operators();

}  // namespace ingot::frontends::tflite
