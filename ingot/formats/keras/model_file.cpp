// Whole models: HDF5 files, .keras archives, architectures.
#include "ingot/formats/keras/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/keras/weight_tree.h"
#include "ingot/formats/zip/archive.h"

namespace ingot::formats::keras {
namespace {

constexpr std::string_view kShardIndex = "model.weights.json";

json::Value attribute_json(const hdf5::Object& object, const char* name, Budget* budget) {
  const std::string text = attribute_text(object, name);
  return text.empty() ? json::Value() : json::parse(text, budget);
}

void read_layer_weights(const hdf5::Object& group, ModelFile& model) {
  model.grouping = Grouping::by_layer;
  model.weights = layered_weights(group);
  model.has_weights = true;
  if (model.version.empty()) model.version = attribute_text(group, "keras_version");
  if (model.backend.empty()) model.backend = attribute_text(group, "backend");
}

ModelFile read_hdf5_model(const Bytes& file, Budget* budget) {
  const hdf5::File hdf5(file, budget);
  const hdf5::Object& root = hdf5.root();
  ModelFile model;
  model.config = attribute_json(root, "model_config", budget);
  if (!model.config.exists())
    throw Error(Code::not_a_model, "the file holds weights but no model")
        .hint("name the file that describes the model, and give this one with --weights-from");
  model.training = attribute_json(root, "training_config", budget);
  model.version = attribute_text(root, "keras_version");
  model.backend = attribute_text(root, "backend");
  if (const hdf5::Object* weights = root.member("model_weights")) read_layer_weights(*weights, model);
  if (const hdf5::Object* optimizer = root.member("optimizer_weights"))
    model.optimizer.values = listed_weights(*optimizer);
  return model;
}

Bytes member_of(const zip::Archive& archive, std::string_view name, Budget* budget) {
  const zip::Member* member = archive.find(name);
  return member ? archive.read(*member, budget) : Bytes();
}

void take_objects(WeightTree tree, ModelFile& model) {
  model.grouping = Grouping::by_object;
  model.weights = std::move(tree);
  model.has_weights = true;
  for (auto& [key, part] : model.weights.parts)
    if (key == "optimizer") model.optimizer = std::move(part);
  std::erase_if(model.weights.parts, [](const auto& part) { return part.first == "optimizer"; });
}

void read_object_weights(const Bytes& file, ModelFile& model, Budget* budget) {
  const hdf5::File hdf5(file, budget);
  take_objects(object_weights(hdf5.root()), model);
}

/// Weights in several HDF5 files, which a JSON text lists by what they hold.
template <class Read> void read_shards(const Bytes& index, ModelFile& model, Budget* budget, const Read& read) {
  constexpr std::size_t kMost = 4096;
  std::set<std::string> names;
  for (const auto& [path, files] : json::parse(index.text(), budget)["weight_map"].members()) {
    if (files.is_text()) names.emplace(files.text());
    for (const json::Value& file : files.entries()) names.emplace(file.text());
    if (names.size() > kMost) throw Error(Code::bad_json, fmt::format("the weights lie in more than {} files", kMost));
  }
  if (names.empty()) throw Error(Code::bad_json, "the list of shards (weight_map) names no file");
  WeightTree all;
  for (const std::string& name : names) {
    try {
      const hdf5::File shard(read(name), budget);
      join(all, object_weights(shard.root()));
    } catch (Error& error) {
      error.in_file(name);
      throw;
    }
  }
  take_objects(std::move(all), model);
}

void read_shards_of(const zip::Archive& archive, ModelFile& model, Budget* budget) {
  read_shards(member_of(archive, kShardIndex, budget), model, budget, [&](const std::string& name) {
    const Bytes shard = member_of(archive, name, budget);
    if (shard.empty()) throw Error(Code::bad_reference, "the archive has no such shard of the weights");
    return shard;
  });
}

bool looks_like_shard_index(const Bytes& file) {
  const std::string_view text = file.text();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{' && text.find("\"weight_map\"") != text.npos;
}

ModelFile read_archive(const Bytes& file, Budget* budget) {
  const zip::Archive archive(file);
  ModelFile model;
  const Bytes config = member_of(archive, "config.json", budget);
  if (config.empty()) throw Error(Code::not_a_model, "the archive has no config.json: it is no .keras file");
  model.config = json::parse(config.text(), budget);
  model.training = model.config["compile_config"];
  if (const Bytes metadata = member_of(archive, "metadata.json", budget); !metadata.empty())
    model.version = json::parse(metadata.text(), budget)["keras_version"].text();
  if (const Bytes weights = member_of(archive, "model.weights.h5", budget); !weights.empty())
    read_object_weights(weights, model, budget);
  else if (archive.find("model.weights.npz"))
    throw Error(Code::code_refused, "the weights are pickled (model.weights.npz), which would have to be executed")
        .hint("save the model again with weights in HDF5, Keras's default");
  else if (archive.find(kShardIndex))
    read_shards_of(archive, model, budget);
  for (const zip::Member& member : archive.members())
    if (member.name.starts_with("assets/") && !member.name.ends_with('/'))
      model.assets.emplace(member.name, archive.read(member, budget));
  return model;
}

}  // namespace

const WeightTree* WeightTree::part(std::string_view key) const {
  for (const auto& [own_key, tree] : parts)
    if (own_key == key) return &tree;
  return nullptr;
}

bool looks_like_keras(const Bytes& file) {
  if (hdf5::looks_like_hdf5(file)) return true;
  if (!zip::looks_like_zip(file)) return false;
  try {
    return zip::Archive(file).find("config.json") != nullptr;
  } catch (const Error&) {
    return false;
  }
}

bool looks_like_architecture(const Bytes& file) {
  const std::string_view text = file.text().substr(0, 4096);
  const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != text.npos && text[first] == '{' && text.find("\"class_name\"") != text.npos &&
         text.find("\"modelTopology\"") == text.npos && file.text().find("\"layers\"") != text.npos;
}

ModelFile read_model(const Bytes& file, Budget* budget) {
  return zip::looks_like_zip(file) ? read_archive(file, budget) : read_hdf5_model(file, budget);
}

void read_weights(const Bytes& file, const std::string& directory, PathPolicy policy, ModelFile& model,
                  Budget* budget) {
  if (looks_like_shard_index(file))
    return read_shards(file, model, budget,
                       [&](const std::string& name) { return map_beneath(directory, name, policy); });
  if (zip::looks_like_zip(file)) {
    const zip::Archive archive(file);
    if (archive.find(kShardIndex)) return read_shards_of(archive, model, budget);
    const Bytes weights = member_of(archive, "model.weights.h5", budget);
    if (weights.empty()) throw Error(Code::not_a_model, "the archive has no weights (model.weights.h5)");
    read_object_weights(weights, model, budget);
    return;
  }
  const hdf5::File hdf5(file, budget);
  const hdf5::Object& root = hdf5.root();
  if (const hdf5::Object* weights = root.member("model_weights"))
    read_layer_weights(*weights, model);
  else if (root.attribute("layer_names") || root.attribute("layer_names0"))
    read_layer_weights(root, model);
  else
    read_object_weights(file, model, budget);
}

ModelFile read_architecture(const Bytes& file, Budget* budget) {
  ModelFile model;
  model.config = json::parse(file.text(), budget);
  model.version = model.config["keras_version"].text();
  model.backend = model.config["backend"].text();
  return model;
}

}  // namespace ingot::formats::keras
