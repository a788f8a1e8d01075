#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/driver/format.h"
#include "ingot/driver/import_layout.h"
#include "ingot/ir/model.h"

namespace ingot {
class Budget;
}

namespace ingot::driver {

/// What models of other frameworks may have to be told; ONNX files need none of it.
struct ImportOptions {
  std::string signature;                                    // which of several entry points
  std::string tag;                                          // which of several graphs of a SavedModel
  std::vector<std::string> inputs, outputs;                 // where to cut, by name
  std::vector<std::pair<std::string, Shape>> input_shapes;  // input name -> dimensions; an unknown one stays as it is
  std::vector<std::string> allow_custom;                    // "Op" or "Op:domain": stays as a custom node
  std::string functions;           // an ONNX file whose functions give custom nodes of their names a meaning
  bool dequantize = false;         // quantised tensors become float
  bool keep_functions = false;     // functions of the source become functions of the model
  LayoutWish layout;               // of inputs and outputs
  std::string mode = "inference";  // or training, or both: what of a model that can learn is wanted
};

struct LoadOptions {
  std::optional<Format> from;  // absent: the file tells
  ImportOptions import;
  bool allow_links = false;
  Budget* budget = nullptr;
};

struct Loaded {
  Model model;
  Format format;
  std::vector<std::string> notes;  // what a reader of a report should know about the import, a line each
};

/// Whether files of this format hold ONNX, whose operator sets are kept unless others are asked for.
bool is_onnx(Format format);

/// Reads a model of any format that Ingot knows. Errors name the file.
Loaded load(const std::string& path, const LoadOptions& options = {});

struct SaveOptions {
  std::optional<Format> to;  // absent: the extension tells
  bool external_data = false;
  std::uint64_t external_threshold = 1024;
};

/// Writes a model, whole or not at all.
void save(const Model& model, const std::string& path, const SaveOptions& options = {});

}  // namespace ingot::driver
