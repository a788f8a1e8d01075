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

/// Adds the weights of a part and of those in it.
void add_weights(const files::WeightTree& tree, std::string& entries, std::string& bytes) {
  for (const files::Weight& weight : tree.values) {
    if (weight.value.dtype != DType::f32)
      throw Error(Code::unsupported_feature, "TF.js has weights of 32-bit real numbers only");
    entries += entries.empty() ? "" : ",";
    entries += "{\"name\":" + json::quoted(weight.name) + ",\"dtype\":\"float32\",\"shape\":[";
    for (std::size_t i = 0; i < weight.value.dims.size(); ++i)
      entries += (i ? "," : "") + std::to_string(weight.value.dims[i]);
    entries += "]}";
    bytes += weight.value.data.text();
  }
  for (const auto& [key, part] : tree.parts) add_weights(part, entries, bytes);
}

}  // namespace

std::optional<TfjsModel> wrap_as_layers_model(const std::string& path, const Model& imported,
                                              const LoadOptions& options, const std::string& directory) {
  const Source source = open_source(path);
  if (rows::kKeras.recognise(source) == Certainty::no) return std::nullopt;
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
  std::string entries, bytes;
  add_weights(file.weights, entries, bytes);
  model.file = (fs::path(directory) / "model.json").string();
  write_file(fs::path(directory) / "weights.bin", bytes);
  write_file(model.file,
             "{\"format\":\"layers-model\",\"modelTopology\":{\"keras_version\":" + json::quoted(file.version) +
                 ",\"backend\":\"tensorflow\",\"model_config\":" + file.config.dump() +
                 "},\"weightsManifest\":[{\"paths\":[\"weights.bin\"],\"weights\":[" + entries + "]}]}");
  return model;
}

}  // namespace ingot::driver::keras
