// Optimizing without the passes' own headers.
#include "ingot/api/optimize.h"

#include "ingot/driver/edit.h"

namespace ingot {

OptimizeSummary optimize(Model& model, const OptimizeOptions& options) {
  driver::OptimizeRequest request;
  request.level = driver::parse_level(options.level);
  request.ignores_nan = options.ignores_nan;
  request.opset = options.opset;
  request.budget = options.budget;
  const driver::OptimizeReport report = driver::optimize(model, request);
  OptimizeSummary summary{{}, report.nodes_before, report.nodes_after};
  for (const auto& rule : report.rules)
    if (rule.second) summary.rules.push_back(rule);
  return summary;
}

}  // namespace ingot
