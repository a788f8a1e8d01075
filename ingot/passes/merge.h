#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/ir/opaque_model.h"

namespace ingot::passes {

struct MergeOptions {
  /// Output of the first -> input of the second, by their own names; empty: those of the same name.
  std::vector<std::pair<std::string, std::string>> connections{};
  /// Inputs of the same name become one.
  bool shares_inputs = false;
  /// Put before the names of values, nodes and named dimensions of each.
  std::string prefix_a{}, prefix_b{};
  /// Outputs of the result, by their names in it; empty: those of the first that are not connected, then the second's.
  std::vector<std::string> outputs{};
};

struct MergeReport {
  std::vector<std::string> notes;  // every change that was not asked for by name, a line each
};

/// One model of two: what the first gives, the second takes. The older operator sets move up to the newer ones.
/// Refuses, with all problems at once, types that contradict each other, names of inputs, outputs and functions that
/// both have, and other domains in different versions.
Model merge(Model a, Model b, const MergeOptions& options, MergeReport& report);

}  // namespace ingot::passes
