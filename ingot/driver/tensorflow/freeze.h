#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/formats/tensorflow/graph_def.h"

namespace ingot::driver::tensorflow {

/// A graph without variables and calls; inputs and outputs by their name in an import and their tensor here.
struct FrozenGraph {
  formats::tensorflow::GraphDef graph;
  std::vector<std::pair<std::string, std::string>> inputs, outputs;
};

/// Of a SavedModel, a graph with or without a checkpoint, or a TF.js model in its old form; `outputs` are tensors of
/// the graph, for models without a signature and where the options name other outputs.
FrozenGraph freeze(const std::string& path, const std::vector<std::string>& outputs, const LoadOptions& options);

}  // namespace ingot::driver::tensorflow
