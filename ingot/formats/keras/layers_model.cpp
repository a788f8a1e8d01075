// TF.js layers-models: Keras's configuration in a model.json, the weights in shards beside it.
#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/keras/model_file.h"
#include "ingot/formats/tfjs/graph_model.h"

namespace ingot::formats::keras {
namespace {

hdf5::Array to_array(const tensorflow::TensorProto& tensor, Budget& budget) {
  hdf5::Array array;
  array.dtype = tensorflow::dtype_of(tensor.dtype);
  array.item_bytes = tensorflow::element_size(tensor.dtype);
  array.dims = tensor.shape.dims;
  if (array.dtype == DType::string)
    array.strings = tensor.strings;
  else
    array.data = tensorflow::expanded_elements(tensor, budget);
  return array;
}

}  // namespace

ModelFile read_layers_model(const Bytes& file, const std::string& directory, PathPolicy policy, Budget& budget) {
  const json::Value root = json::parse(file.text(), &budget);
  const json::Value topology = root["modelTopology"];
  if (!topology.is_object()) throw Error(Code::bad_json, "the model has no topology, only weights");
  ModelFile model;
  const json::Value inner = topology["model_config"];
  model.config = inner.is_object() ? inner : topology;
  model.training = topology["training_config"];
  if (model.training.is_null()) model.training = root["trainingConfig"];
  model.version = topology["keras_version"].text();
  model.backend = topology["backend"].text();
  model.grouping = Grouping::by_name;
  model.has_weights = root["weightsManifest"].is_list();
  for (auto& [name, tensor] : tfjs::read_weights(file, directory, policy, budget)) {
    Weight weight{name.ends_with(":0") ? name.substr(0, name.size() - 2) : name, to_array(tensor, budget)};
    model.weights.values.push_back(std::move(weight));
  }
  return model;
}

}  // namespace ingot::formats::keras
