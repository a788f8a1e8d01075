#pragma once
#include <string>
#include <vector>

#include "ingot/formats/tflite/model.h"
#include "ingot/ir/model.h"
#include "ingot/passes/layout/layout.h"
#include "ingot/passes/legalize/legalize.h"

namespace ingot::backends::tflite {

using AutoCast = passes::CastRule;

struct ExportOptions : passes::legalize::Options {
  bool float16_weights = false;  // large float weights are stored in half the space
  bool native_lstm = false;      // as TFLite's own operator, which LiteRT does not load
};

struct Exported {
  formats::tflite::Model model;
  std::vector<std::string> notes;  // each cast, approximation and change of layout
  passes::LayoutReport layout;
};

/// Expresses an ONNX model in TFLite's operators. Throws one Error that lists everything that TFLite cannot express.
Exported to_tflite(const Model& model, const ExportOptions& options = {});

using passes::legalize::Obstacle;
/// All that TFLite cannot express, without writing anything.
std::vector<Obstacle> find_obstacles(const Model& model, const ExportOptions& options = {});

/// What TFLite has for one ONNX operator, for `ingot ops --to tflite`.
struct OperatorSupport {
  std::string op, domain;
  bool is_native = false, decomposes = false;
};
std::vector<OperatorSupport> supported_operators();

}  // namespace ingot::backends::tflite
