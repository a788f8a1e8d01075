#pragma once
#include <string>

#include "ingot/formats/tensorflow/graph_def.h"

namespace ingot {
class Budget;
}

namespace ingot::formats::tfjs {

/// A graph-model as its two files: model.json, and the one shard of weights that it names weights.bin.
struct GraphModelFiles {
  std::string json, weights;
};

/// A graph as a TF.js graph-model: constants, those of functions too, become weights in the types that TF.js has
/// (integers int32, floats float32). Operators are not looked at: TF.js tells which of them it lacks.
GraphModelFiles to_graph_model(const tensorflow::GraphDef& graph, Budget& budget);

}  // namespace ingot::formats::tfjs
