#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/base/safe_path.h"
#include "ingot/formats/tensorflow/saved_model.h"

namespace ingot::formats::tfjs {

/// A TF.js graph-model: TensorFlow's graph in another wrapping, with the weights in its constants.
struct GraphModel {
  tensorflow::GraphDef graph;
  std::optional<tensorflow::Signature> signature;
};

/// A quick look, no proof. Layers-models are Keras's and do not count.
bool looks_like_graph_model(const Bytes& file);
/// The other kind of model.json, which read_graph_model refuses in so many words.
bool looks_like_layers_model(const Bytes& file);

/// `file` is model.json or the old tensorflowjs_model.pb; weights lie below `directory`.
GraphModel read_graph_model(const Bytes& file, const std::string& directory, PathPolicy policy, Budget& budget);

/// The weights of a model of either kind, in the order of its manifest.
using WeightList = std::vector<std::pair<std::string, tensorflow::TensorProto>>;
WeightList read_weights(const Bytes& file, const std::string& directory, PathPolicy policy, Budget& budget);

}  // namespace ingot::formats::tfjs
