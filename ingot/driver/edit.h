#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ingot/driver/options.h"
#include "ingot/ir/opaque_model.h"
#include "ingot/passes/half.h"
#include "ingot/passes/merge.h"
#include "ingot/passes/optimize/optimize.h"
#include "ingot/passes/split.h"

namespace ingot {
class Budget;
}

// Work on graphs that stay ONNX: what `ingot extract`, `split`, `merge`, `rename` and `optimize` do.

namespace ingot::driver {

using passes::HalfOptions;
using passes::HalfReport;
using passes::MergeOptions;
using passes::MergeReport;
using passes::OptimizeLevel;
using passes::OptimizeReport;
using passes::Part;
using passes::SplitOptions;

/// Words of the command line: "basic", "extended", "all".
OptimizeLevel parse_level(std::string_view word);

/// Keeps what lies between the values named; see passes/extract.h.
void extract(Model& model, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);
std::vector<Part> split(const Model& model, const SplitOptions& options);
using passes::merge;
HalfReport to_half(Model& model, const HalfOptions& options);

struct RenameOptions {
  Renames values{}, dims{};
  std::string prefix{};  // put before the names of all values and nodes but inputs and outputs
};
void rename(Model& model, const RenameOptions& options);

/// The operator sets of a model and of its functions.
OpsetImports all_opsets(const Model& model);
/// What passes left in the newest operator sets, in these; the IR version is raised where the model needs a newer one.
void bring_to(Model& model, const OpsetImports& opsets, std::int64_t ir_version);

struct OptimizeRequest {
  OptimizeLevel level = OptimizeLevel::extended;
  bool ignores_nan = false;
  std::int64_t opset = 0;  // 0: the model's own
  /// "com.microsoft": ONNX Runtime's own operators are made too. Empty: only what ONNX defines.
  std::string fuse = {};
  Budget* budget = nullptr;
};

/// Optimizes, and brings the model back to its own operator sets, or to the one asked for. Where those cannot say
/// what the newest can, the error says which can.
OptimizeReport optimize(Model& model, const OptimizeRequest& request);

}  // namespace ingot::driver
