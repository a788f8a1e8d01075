#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/ir/model.h"

namespace ingot::driver {

struct ConvertOptions {
  std::optional<std::int64_t> opset;  // of ai.onnx; the other standard domains follow the release that brought it
  std::string target;                 // "ort-1.15", "onnx-1.12": opsets and IR version of that program
  /// Input name -> dimensions; a negative or unknown one stays as it is.
  std::vector<std::pair<std::string, Shape>> input_shapes;
  std::vector<std::pair<std::string, std::string>> renames;  // old -> new
  bool infer_types = false;                                  // write the types of all values
  /// "none", "up" or "all": what may be done about element types that the operator set asked for lacks.
  std::string auto_cast = "none";
};

struct ConvertReport {
  std::vector<std::string> notes;  // every change that was not asked for by name, a line each
  std::size_t nodes_changed = 0, nodes_added = 0;
};

/// Changes a model as asked. Nothing asked, nothing changed.
ConvertReport convert(Model& model, const ConvertOptions& options);

/// "x:1,3,224,224" -> name and dimensions; a word is a symbolic dimension, "?" or -1 keeps what the model says.
std::pair<std::string, Shape> parse_input_shape(const std::string& text);

}  // namespace ingot::driver
