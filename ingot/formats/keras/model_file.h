#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ingot/base/safe_path.h"
#include "ingot/formats/hdf5/file.h"
#include "ingot/formats/json/document.h"

namespace ingot::formats::keras {

struct Weight {
  std::string name;  // as the file has it, without ":0"
  hdf5::Array value;
};

/// Weights as a file groups them.
struct WeightTree {
  std::string name;                                       // of the object, where the file tells it
  std::vector<Weight> values;                             // its own, in the order of saving
  std::vector<std::pair<std::string, WeightTree>> parts;  // by layer, or by attribute of the object

  const WeightTree* part(std::string_view key) const;
};

/// How the weights of a model are told apart.
enum class Grouping : std::uint8_t {
  by_layer,   // a part for each layer of the model, by its name (HDF5 files up to Keras 2, and of Keras 3 since)
  by_object,  // the tree of Python objects (.keras)
  by_name,    // one list whose names tell (TF.js)
};

/// A model as Keras describes it, and its weights. Nothing in it is executed.
struct ModelFile {
  json::Value config;    // {"class_name": ..., "config": ...}
  json::Value training;  // the arguments of compile(); absent: none
  std::string version;   // of Keras; empty: not told
  std::string backend;
  Grouping grouping = Grouping::by_layer;
  WeightTree weights;
  bool has_weights = false;
  WeightTree optimizer;                 // the optimizer's variables
  std::map<std::string, Bytes> assets;  // of .keras: path -> content
};

/// Whether an HDF5 file is a model or the weights of one; whether a zip archive is a .keras file.
bool looks_like_keras(const Bytes& file);
/// A JSON text that describes an architecture and holds no weights.
bool looks_like_architecture(const Bytes& file);

/// .h5 or .keras, whichever it is.
ModelFile read_model(const Bytes& file, Budget* budget = nullptr);
/// The weights of a file that holds nothing else, or of a whole model; where it lists shards, these lie in `directory`.
void read_weights(const Bytes& file, const std::string& directory, PathPolicy policy, ModelFile& model,
                  Budget* budget = nullptr);
/// What model.to_json() writes.
ModelFile read_architecture(const Bytes& file, Budget* budget = nullptr);
/// A TF.js layers-model; its weights lie below `directory`.
ModelFile read_layers_model(const Bytes& file, const std::string& directory, PathPolicy policy, Budget& budget);

}  // namespace ingot::formats::keras
