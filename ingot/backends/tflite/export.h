#pragma once
#include <string>
#include <vector>

#include "ingot/formats/tflite/model.h"
#include "ingot/ir/model.h"
#include "ingot/passes/cast_types.h"
#include "ingot/passes/layout/layout.h"

namespace ingot::backends::tflite {

/// Which element types may change where TFLite has no kernel for the model's: none, wider ones only, or narrower too.
using AutoCast = passes::CastRule;

struct ExportOptions {
  AutoCast auto_cast = AutoCast::none;
  bool float16_weights = false;           // large float weights are stored in half the space
  bool native_lstm = false;               // as TFLite's own operator, which LiteRT does not load
  std::vector<std::string> allow_custom;  // "Op" or "Op:domain": stays an operator that the runtime must bring
  std::optional<passes::Layout> inputs_as, outputs_as;
};

struct Exported {
  formats::tflite::Model model;
  std::vector<std::string> notes;  // each cast, approximation and change of layout
  passes::LayoutReport layout;
};

/// Expresses an ONNX model in TFLite's operators. Throws one Error that lists everything that TFLite cannot express.
Exported to_tflite(const Model& model, const ExportOptions& options = {});

/// Something of a model that TFLite cannot express.
struct Obstacle {
  std::string where, op, reason, remedy;  // remedy: options that may help; empty: none known
};
/// All of them, without writing anything.
std::vector<Obstacle> find_obstacles(const Model& model, const ExportOptions& options = {});

/// What TFLite has for one ONNX operator, for `ingot ops --to tflite`.
struct OperatorSupport {
  std::string op, domain;
  bool is_native = false, decomposes = false;
};
std::vector<OperatorSupport> supported_operators();

}  // namespace ingot::backends::tflite
