#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/driver/load.h"

namespace ingot::driver {

/// A TensorFlow model in a form that TF.js runs.
struct TfjsModel {
  std::string file;                                            // model.json
  std::vector<std::pair<std::string, std::string>> inputs;     // name in the imported model -> tensor of the graph;
  std::vector<std::pair<std::string, std::string>> outputs;    // those not listed have the same name
  std::vector<std::string> nodes;                              // names, sorted
  std::vector<std::pair<std::string, std::string>> operators;  // node -> operator, sorted
};

/// A TF.js graph-model as it is; other graphs are written into the directory as one: variables become constants, and
/// calls of functions become what they call. `imported` is what load() gives with the same options.
TfjsModel wrap_for_tfjs(const std::string& path, const Model& imported, const LoadOptions& options,
                        const std::string& directory);

/// The operator of a node; empty if there is none of that name.
std::string operator_of(const TfjsModel& model, const std::string& node);

}  // namespace ingot::driver
