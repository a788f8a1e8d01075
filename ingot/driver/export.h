#pragma once
#include <string>
#include <vector>

#include "ingot/driver/convert.h"
#include "ingot/driver/format.h"

namespace ingot::driver {

/// What decides how a model is said in another framework's file.
struct ExportOptions {
  std::string auto_cast = "none";         // "none", "up", "all"
  std::string weights;                    // "" as they are, "float16"
  bool native_lstm = false;               // TFLite: LSTM as one operator, which LiteRT does not load
  std::string inputs_as, outputs_as;      // "" as they are, "nchw", "nhwc"
  std::vector<std::string> allow_custom;  // "Op" or "Op:domain"
};

/// Whether a format holds other operators than ONNX's.
bool is_foreign(Format format);

/// Writes the model as a file of another framework, whole or not at all; notes go to the report.
void export_model(const Model& model, const std::string& path, Format format, const ExportOptions& options,
                  ConvertReport& report);

/// What a framework has for each ONNX operator.
struct ExportLine {
  std::string domain, name;
  bool is_native = false, decomposes = false;
};
std::vector<ExportLine> exported_operators(Format format);

/// Something of a model that a framework cannot express, and which options may help.
struct ExportObstacle {
  std::string where, op, reason, remedy;
};
/// All of them, found without writing anything.
std::vector<ExportObstacle> export_obstacles(const Model& model, Format format, const ExportOptions& options = {});

}  // namespace ingot::driver
