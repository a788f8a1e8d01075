// Keras's files as TF.js layers-models.
#include <algorithm>
#include <filesystem>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/driver/formats/rows.h"
#include "ingot/driver/keras/load.h"
#include "ingot/ir/model.h"

namespace ingot::driver::keras {
namespace {

namespace fs = std::filesystem;
namespace files = formats::keras;
namespace json = formats::json;

void write_file(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path.string());
  file.write(bytes);
  file.commit();
}

/// TF.js finds the layer of a weight by its name, which in Keras's files may be another one's: "conv_3/kernel" of
/// "conv".
std::string name_for(const std::string& weight, const std::string& layer) {
  const bool is_there = ("/" + weight).find("/" + layer + "/") != std::string::npos;
  const std::size_t slash = weight.find('/');
  return is_there || layer.empty() || slash == std::string::npos ? weight : layer + weight.substr(slash);
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

/// Layers that do nothing while running, in words that TF.js has, and without settings that it stumbles over.
std::string config_for_tfjs(std::string config) {
  for (const char* layer : {"SpatialDropout2D", "SpatialDropout3D"})
    replace_all(config, "\"class_name\":\"" + std::string(layer) + "\"", "\"class_name\":\"Dropout\"");
  if (config.find("\"SeparableConv") != std::string::npos)
    for (const char* key : {"kernel_initializer", "kernel_regularizer", "kernel_constraint"})
      replace_all(config, "\"" + std::string(key) + "\":", "\"unused_" + std::string(key) + "\":");
  return config;
}

/// TF.js's ReLU knows its largest value only.
void require_plain_relus(const json::Value& config) {
  std::vector<json::Value> stack{config};
  while (!stack.empty()) {
    const json::Value at = stack.back();
    stack.pop_back();
    const json::Value settings = at["config"];
    if (at["class_name"].text() == "ReLU" &&
        (settings["negative_slope"].as_number().value_or(0) != 0 || settings["threshold"].as_number().value_or(0) != 0))
      throw Error(Code::unsupported_feature, "TF.js leaves the slope and the threshold of ReLU layers aside");
    for (const json::Value& entry : at.entries()) stack.push_back(entry);
    for (const auto& [key, value] : at.members()) stack.push_back(value);
  }
}

/// Adds the weights of a part and of those in it.
void add_weights(const files::WeightTree& tree, const std::string& layer, std::string& entries, std::string& bytes) {
  for (const files::Weight& weight : tree.values) {
    if (weight.value.dtype != DType::f32)
      throw Error(Code::unsupported_feature, "TF.js has weights of 32-bit real numbers only");
    entries += entries.empty() ? "" : ",";
    entries += "{\"name\":" + json::quoted(name_for(weight.name, layer)) + ",\"dtype\":\"float32\",\"shape\":[";
    for (std::size_t i = 0; i < weight.value.dims.size(); ++i)
      entries += (i ? "," : "") + std::to_string(weight.value.dims[i]);
    entries += "]}";
    bytes += weight.value.data.text();
  }
  for (const auto& [key, part] : tree.parts) add_weights(part, key, entries, bytes);
}

}  // namespace

std::optional<TfjsModel> wrap_as_layers_model(const std::string& path, const Model& imported,
                                              const LoadOptions& options, const std::string& directory) {
  const Source source = open_source(path);
  if (rows::kKerasFormat.recognise(source) == Certainty::no) return std::nullopt;
  TfjsModel model;
  for (const Value* input : imported.graph->inputs()) model.nodes.push_back(input->name());
  std::ranges::sort(model.nodes);
  const files::ModelFile file = open_model(source, options);
  if (file.grouping == files::Grouping::by_name && options.import.weights_from.empty()) {
    model.file = source.is_directory ? (fs::path(path) / "model.json").string() : path;
    return model;
  }
  if (file.grouping == files::Grouping::by_object)
    throw Error(Code::unsupported_feature, "TF.js reads models of Keras 1 and 2 only");
  require_plain_relus(file.config);
  std::string entries, bytes;
  add_weights(file.weights, "", entries, bytes);
  model.file = (fs::path(directory) / "model.json").string();
  write_file(fs::path(directory) / "weights.bin", bytes);
  write_file(model.file,
             "{\"format\":\"layers-model\",\"modelTopology\":{\"keras_version\":" + json::quoted(file.version) +
                 ",\"backend\":\"tensorflow\",\"model_config\":" + config_for_tfjs(file.config.dump()) +
                 "},\"weightsManifest\":[{\"paths\":[\"weights.bin\"],\"weights\":[" + entries + "]}]}");
  return model;
}

}  // namespace ingot::driver::keras
