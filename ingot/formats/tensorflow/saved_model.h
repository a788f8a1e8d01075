#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/formats/tensorflow/graph_def.h"

namespace ingot::formats::tensorflow {

/// A tensor of the graph as a signature names it: "node:0".
struct TensorInfo {
  std::string name;
  DataType dtype = DataType::invalid;
  TensorShape shape{};
  bool is_composite = false;                                // a sparse or ragged tensor: several tensors in one
  std::string values_name, indices_name, dense_shape_name;  // of a sparse one
};

struct Signature {
  std::string key, method;
  std::vector<std::pair<std::string, TensorInfo>> inputs, outputs;  // sorted by name, as maps have no order
};

struct AssetFile {
  std::string tensor_name, filename;
};

struct SaverDef {
  std::string filename_tensor, save_tensor, restore_op;
};

/// One object of a TF2 model: how functions and variables hang together.
struct SavedObject {
  enum class Kind { other, user_object, asset, function, variable, concrete_function, constant, resource };
  Kind kind = Kind::other;
  std::vector<std::pair<std::string, std::int32_t>> children;
  std::string name;  // a variable's name, a constant's operation, a function's name
  DataType dtype = DataType::invalid;
  TensorShape shape{};
  std::int32_t asset_index = 0;
};

struct ConcreteFunction {
  std::string name;
  std::vector<std::int32_t> bound_inputs;  // objects that follow the user's arguments
};

struct ObjectGraph {
  std::vector<SavedObject> objects;
  std::vector<ConcreteFunction> functions;
};

struct MetaGraph {
  std::vector<std::string> tags;
  std::string tensorflow_version;
  GraphDef graph;
  std::optional<SaverDef> saver;
  std::vector<Signature> signatures;
  std::vector<AssetFile> assets;
  ObjectGraph objects;
  std::vector<std::pair<std::string, std::vector<std::string>>> collections;  // lists of names only
};

struct SavedModel {
  std::int64_t schema_version = 1;
  std::vector<MetaGraph> meta_graphs;
};

}  // namespace ingot::formats::tensorflow
