// ONNX models as layers.
#include "ingot/driver/keras/save.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/keras/export.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/directory_set.h"
#include "ingot/base/error.h"
#include "ingot/driver/export_lists.h"
#include "ingot/driver/import_layout.h"
#include "ingot/driver/load.h"
#include "ingot/formats/json/document.h"
#include "ingot/ir/model.h"
#include "ingot/ops/catalog.h"

namespace ingot::driver::keras {
namespace {

namespace back = backends::keras;
namespace json = formats::json;

constexpr std::size_t kShard = std::size_t{4} << 20;

bool is_part_of_layers(std::string_view entry) {
  return entry == "model.json" || (entry.starts_with("group") && entry.ends_with(".bin")) || entry == "weights.bin";
}

/// The bytes of all weights behind each other, in files of one size.
class Shards {
 public:
  Shards(DirectorySet& files, std::size_t bytes) : files_(files), count_((bytes + kShard - 1) / kShard) {}

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      if (!file_) open();
      const std::size_t part = std::min(kShard - filled_, bytes.size());
      file_->write(bytes.first(part));
      bytes = bytes.subspan(part);
      filled_ += part;
      if (filled_ == kShard) close();
    }
  }
  void close() {
    if (file_) file_->commit();
    file_.reset();
    filled_ = 0;
  }
  std::string names() const {
    std::string text;
    for (const std::string& name : names_) text += (text.empty() ? "" : ",") + json::quoted(name);
    return text;
  }

 private:
  void open() {
    names_.push_back(fmt::format("group1-shard{}of{}.bin", names_.size() + 1, count_));
    file_.emplace(files_.path_of(names_.back()));
  }

  DirectorySet& files_;
  std::size_t count_, filled_ = 0;
  std::vector<std::string> names_;
  std::optional<AtomicFile> file_;
};

std::string entry_of(const std::string& name, const Tensor& weight) {
  return fmt::format("{{\"name\":{},\"dtype\":\"float32\",\"shape\":[{}]}}", json::quoted(name),
                     fmt::join(weight.dims(), ","));
}

}  // namespace

std::vector<std::string> save_layers(const Model& model, const std::string& path, const SaveOptions& options) {
  if (path.ends_with(".keras") || path.ends_with(".h5") || path.ends_with(".hdf5"))
    throw Error(Code::not_writable, "layers are written as a TF.js layers-model only, not as HDF5")
        .hint("name a directory, with --to keras");
  std::vector<std::string> notes;
  Model settled = model.clone();
  settled.training.clear();
  if (options.layout.inputs_as || options.layout.outputs_as) wish_layout(settled, options.layout, notes);
  const back::LayersModel made = back::to_layers(settled);
  notes.insert(notes.end(), made.notes.begin(), made.notes.end());
  std::size_t bytes = 0;
  std::string entries;
  for (const auto& [name, weight] : made.weights) {
    if (weight.dtype() != DType::f32)
      throw Error(Code::unsupported_feature, "the weights '" + name + "' are no 32-bit real numbers");
    bytes += weight.bytes().size();
    entries += (entries.empty() ? "" : ",") + entry_of(name, weight);
  }
  const SplitPath split = split_path(path);
  DirectorySet files(split.name == "model.json" ? split.directory : path, is_part_of_layers);
  Shards shards(files, bytes);
  for (const auto& [name, weight] : made.weights) shards.write(weight.bytes().span());
  shards.close();
  AtomicFile file(files.path_of("model.json"));
  file.write(
      fmt::format("{{\"format\":\"layers-model\",\"generatedBy\":\"ingot\",\"modelTopology\":{{\"keras_version\":"
                  "\"2.11.0\",\"backend\":\"tensorflow\",\"model_config\":{}}},\"weightsManifest\":[{{\"paths\":"
                  "[{}],\"weights\":[{}]}}]}}",
                  made.config, shards.names(), entries));
  file.commit();
  files.commit();
  return notes;
}

std::vector<ExportLine> exported_operators() {
  const std::vector<std::string> written = back::written_operators();
  std::vector<ExportLine> lines;
  for (const ops::OpDef* def : ops::all()) {
    ExportLine line;
    line.domain = def->domain.empty() ? "ai.onnx" : std::string(def->domain);
    line.name = std::string(def->name);
    line.is_native = def->domain.empty() && std::ranges::binary_search(written, line.name);
    line.decomposes = def->decompose != nullptr;
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<ExportObstacle> obstacles_of(const Model& model, const SaveOptions&) {
  return lines_of(back::find_obstacles(model));
}

}  // namespace ingot::driver::keras
