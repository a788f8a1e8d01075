// What the signatures of TensorFlow's models say.
#include "ingot/driver/tensorflow/signature.h"

#include "ingot/base/error.h"

namespace ingot::driver::tensorflow {

namespace tf = formats::tensorflow;
namespace front = frontends::tensorflow;

std::vector<front::Port> ports_of(const std::vector<std::pair<std::string, tf::TensorInfo>>& infos) {
  std::vector<front::Port> ports;
  for (const auto& [name, info] : infos) {
    if (info.is_composite && !info.values_name.empty()) {
      ports.push_back({name + "/values", info.values_name, tf::dtype_of(info.dtype), std::nullopt});
      ports.push_back({name + "/indices", info.indices_name, DType::i64, std::nullopt});
      ports.push_back({name + "/dense_shape", info.dense_shape_name, DType::i64, std::nullopt});
      continue;
    }
    front::Port port{name, info.name, tf::dtype_of(info.dtype), std::nullopt};
    if (!info.shape.unknown_rank) {
      port.shape.emplace();
      for (std::size_t i = 0; i < info.shape.dims.size(); ++i)
        port.shape->push_back(info.shape.dims[i] < 0 ? Dim::symbol(name + "_" + std::to_string(i))
                                                     : Dim(info.shape.dims[i]));
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

void find_training(const tf::MetaGraph& meta, front::ImportOptions& import) {
  for (const tf::Signature& s : meta.signatures) {
    if (s.key == "__saved_model_train_op")
      for (const auto& [name, info] : s.outputs) import.train_operations.push_back(info.name);
    if (s.key != "train" && !s.key.starts_with("train_")) continue;
    import.train_inputs = ports_of(s.inputs);
    import.train_outputs = ports_of(s.outputs);
  }
  for (const auto& [name, nodes] : meta.collections)
    if (name == "train_op") import.train_operations.insert(import.train_operations.end(), nodes.begin(), nodes.end());
}

const tf::Signature* signature_of(const std::vector<tf::Signature>& all, const std::string& wanted) {
  std::vector<const tf::Signature*> usable;
  std::string known;
  for (const tf::Signature& s : all) {
    if (s.key == "__saved_model_init_op" || s.key == "__saved_model_train_op") continue;
    usable.push_back(&s);
    known += (known.empty() ? "" : ", ") + s.key;
    if (s.key == wanted || (wanted.empty() && s.key == "serving_default")) return &s;
  }
  if (!wanted.empty())
    throw Error(Code::unknown_name, "the model has no signature '" + wanted + "'").hint("its signatures are: " + known);
  if (usable.size() > 1)
    throw Error(Code::bad_usage, "the model has several signatures").hint("choose one with --signature: " + known);
  return usable.empty() ? nullptr : usable.front();
}

}  // namespace ingot::driver::tensorflow
