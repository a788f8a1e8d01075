#pragma once
#include <span>
#include <string_view>

namespace ingot {
class OpsetImports;
}

// Which opsets and IR versions belong together, and which programs read them.
namespace ingot::ops {

/// A program that must be able to read a model: the newest versions it knows.
struct Target {
  std::string_view name;  ///< "onnx-1.12" or "ort-1.15" (ONNX Runtime).
  int opset;              ///< ai.onnx
  int ml_opset;           ///< ai.onnx.ml
  int training_opset;     ///< ai.onnx.training and ai.onnx.preview.training; 0: none.
  int ir_version;
};

/// Released versions, first ONNX's, then ONNX Runtime's, each ascending.
std::span<const Target> all_targets();

/// Accepts a patch version too ("ort-1.15.1"). Throws Error(Code::bad_usage), which lists all names, if there is none.
const Target& target_by_name(std::string_view name);

/// The IR version of the first ONNX release that has all these opset versions. Domains outside the standard do not
/// count; versions beyond the newest known one give the newest IR version.
int ir_version_for(const OpsetImports& imports);

}  // namespace ingot::ops
