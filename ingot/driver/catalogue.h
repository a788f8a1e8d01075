#pragma once
#include <string>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/ir/model.h"

namespace ingot::driver {

/// What Ingot knows of one operator, read off the catalogue.
struct OperatorLine {
  std::string domain, name;    // domain "ai.onnx" spelt out
  std::vector<int> versions;   // ascending
  bool is_deprecated = false;  // in its newest version
  bool infers = false, runs = false, has_gradient = false, decomposes = false;
  std::vector<int> steps_up, steps_down;  // versions with a rewrite of their own
};

std::vector<OperatorLine> catalogue();

/// Those of a domain that ONNX does not define; `why` says why an operator has no definition.
struct VendorLine {
  OperatorLine line;
  std::string why;
};
std::vector<VendorLine> vendor_catalogue(const std::string& domain);
/// "com.microsoft, com.microsoft.nchwc"
std::string vendor_domains();

/// The operators of a model with how often each occurs, those unknown to the catalogue too.
struct UsedOperator {
  OperatorLine line;
  std::size_t count = 0;
  bool is_known = false, is_function = false;
};
std::vector<UsedOperator> operators_of(const Model& model);

/// The operators of another framework that have a translation into ONNX, sorted (of TensorFlow, those whose values are
/// compared by tests); refuses formats that need none.
std::vector<std::string> translated_operators(const Format& from);
/// What a framework has for each ONNX operator; refuses formats that hold ONNX or cannot be written.
std::vector<ExportLine> exported_operators(const Format& to);
/// What stands in the way of writing a model, found without writing anything.
std::vector<ExportObstacle> export_obstacles(const Model& model, const Format& to, const SaveOptions& options = {});

/// Names for --for: "onnx-1.12", "ort-1.15", with their versions.
struct TargetLine {
  std::string name;
  int opset, ml_opset, ir_version;
};
std::vector<TargetLine> targets();

}  // namespace ingot::driver
