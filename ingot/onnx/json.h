#pragma once
#include <string>

#include "ingot/ir/model.h"

namespace ingot::onnx {

struct JsonOptions {
  /// The elements of tensors too, and not only type, shape and size.
  bool values = false;
};

/// The model for other programs; docs/json.md describes the shape. Keys keep the names of ONNX's fields; what is empty
/// is left out. Strings that are not UTF-8 are given as {"hex": "..."}.
std::string to_json(const Model& model, const JsonOptions& options = {});

}  // namespace ingot::onnx
