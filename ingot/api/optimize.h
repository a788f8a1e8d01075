#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ingot/ir/opaque_model.h"

namespace ingot {

class Budget;

struct OptimizeOptions {
  std::string level = "extended";  // "basic", "extended" or "all": see docs/optimize.md
  bool ignores_nan = false;        // NaN and infinity may be taken for numbers: x * 0 is 0
  std::int64_t opset = 0;          // of ai.onnx, of the result; 0: the model's own
  Budget* budget = nullptr;
};

/// What was done: how often each rule was applied, those that were.
struct OptimizeSummary {
  std::vector<std::pair<std::string, std::size_t>> rules;
  std::size_t nodes_before = 0, nodes_after = 0;
};

/// Makes the model smaller; it means the same, and inputs and outputs keep their names.
OptimizeSummary optimize(Model& model, const OptimizeOptions& options = {});

}  // namespace ingot
