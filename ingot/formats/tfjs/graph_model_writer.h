#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "ingot/base/sink.h"
#include "ingot/formats/tensorflow/saved_model.h"

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

/// How large float weights lie in the files; TF.js makes floats of them when it loads them.
enum class StoredWeights : std::uint8_t { as_is, float16, uint8, uint16 };

struct GraphModelOptions {
  const tensorflow::Signature* signature = nullptr;
  StoredWeights weights = StoredWeights::as_is;
  std::uint64_t shard_size = std::uint64_t{4} << 20;
};

/// Writes one file of a model: its name, and what is to be called with where its bytes go.
using FileWriter = std::function<void(const std::string& name, const std::function<void(Sink&)>& write)>;

/// The same as files of a directory, model.json last: weights go from where they are straight to group1-shard1of3.bin
/// and so on. Element types that TF.js has no word for are the nearest that it has.
void write_graph_model(const tensorflow::GraphDef& graph, const GraphModelOptions& options, Budget& budget,
                       const FileWriter& file);

}  // namespace ingot::formats::tfjs
