// TensorFlow's files: which of them belong together.
#include "ingot/driver/tensorflow/files.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/safe_path.h"
#include "ingot/formats/tensorflow/checkpoint.h"
#include "ingot/formats/tfjs/graph_model.h"
#include "ingot/frontends/tensorflow/checkpoint_keys.h"
#include "ingot/frontends/tensorflow/constants.h"

namespace ingot::driver::tensorflow {
namespace {

namespace fs = std::filesystem;
namespace tf = formats::tensorflow;
namespace front = frontends::tensorflow;

std::string directory_of(const std::string& path) { return Source{.path = path}.directory(); }

/// Values from a checkpoint; the files behind it are opened only if something asks.
struct Variables {
  std::optional<tf::Checkpoint> checkpoint;
  std::map<std::string, std::string> keys;  // variable -> key
  Budget* budget;

  std::optional<Tensor> operator()(const std::string& name) const {
    if (!checkpoint) return std::nullopt;
    const auto key = keys.find(name);
    const auto value = checkpoint->read(key == keys.end() ? name : key->second, *budget);
    return value ? std::optional(front::to_tensor(*value, *budget)) : std::nullopt;
  }
};

std::shared_ptr<Variables> variables_of(const tf::MetaGraph& meta, std::optional<tf::Checkpoint> checkpoint,
                                        Budget& budget) {
  auto variables = std::make_shared<Variables>();
  variables->budget = &budget;
  variables->checkpoint = std::move(checkpoint);
  variables->keys = front::checkpoint_keys(meta);
  return variables;
}

}  // namespace

MetaSource open_saved_model(const std::string& directory, const Bytes& contents, const LoadOptions& options) {
  Budget& budget = options.budget ? *options.budget : Budget::unlimited();
  tf::SavedModel model = tf::read_saved_model(contents, budget);
  tf::MetaGraph* meta = nullptr;
  const std::string tag = options.import.tag.empty() ? "serve" : options.import.tag;
  std::string known;
  for (tf::MetaGraph& m : model.meta_graphs) {
    for (const std::string& t : m.tags) known += (known.empty() ? "" : ", ") + t;
    if (!meta && std::ranges::find(m.tags, tag) != m.tags.end()) meta = &m;
  }
  if (!meta && options.import.tag.empty() && model.meta_graphs.size() == 1) meta = &model.meta_graphs.front();
  if (!meta)
    throw Error(Code::unknown_name, "the SavedModel has no graph tagged '" + tag + "'").hint("its tags are: " + known);

  std::optional<tf::Checkpoint> checkpoint;
  const PathPolicy policy{.allow_links = options.allow_links};
  if (fs::exists(fs::path(directory) / "variables" / "variables.index"))
    checkpoint = tf::Checkpoint::open(directory, "variables/variables", policy, budget);
  const auto variables = variables_of(*meta, std::move(checkpoint), budget);
  MetaSource source;
  source.files.variable = [variables](const std::string& name) { return (*variables)(name); };
  source.files.asset = [directory, policy, assets = meta->assets](const std::string& name) -> std::optional<Bytes> {
    // By the tensor that holds its name, else by the file's own name.
    for (const tf::AssetFile& asset : assets)
      if (asset.tensor_name == name || asset.tensor_name == name + ":0" || asset.filename == name)
        return map_beneath(directory, "assets/" + asset.filename, policy);
    return std::nullopt;
  };
  source.meta = std::move(*meta);
  return source;
}

MetaSource open_meta_graph(const std::string& path, const Bytes& contents, const LoadOptions& options) {
  Budget& budget = options.budget ? *options.budget : Budget::unlimited();
  MetaSource source{tf::read_meta_graph(contents, budget), {}};
  const std::string stem = fs::path(path).stem().string();
  std::optional<tf::Checkpoint> checkpoint;
  const PathPolicy policy{.allow_links = options.allow_links};
  if (fs::exists(fs::path(directory_of(path)) / (stem + ".index")) || fs::exists(fs::path(directory_of(path)) / stem))
    checkpoint = tf::Checkpoint::open(directory_of(path), stem, policy, budget);
  const auto variables = variables_of(source.meta, std::move(checkpoint), budget);
  source.files.variable = [variables](const std::string& name) { return (*variables)(name); };
  return source;
}

bool has_old_weights(const std::string& path) {
  return fs::path(path).filename() == "tensorflowjs_model.pb" &&
         fs::exists(fs::path(directory_of(path)) / "weights_manifest.json");
}

MetaSource open_graph(const std::string& path, const Bytes& contents, const LoadOptions& options) {
  Budget& budget = options.budget ? *options.budget : Budget::unlimited();
  MetaSource source;
  if (has_old_weights(path)) {
    const PathPolicy policy{.allow_links = options.allow_links};
    source.meta.graph = formats::tfjs::read_graph_model(contents, directory_of(path), policy, budget).graph;
  } else {
    source.meta.graph = tf::read_graph(contents, budget);
  }
  return source;
}

std::optional<tf::FileKind> kind_of(const Bytes& contents) {
  if (const auto kind = tf::kind_of(contents)) return kind;
  return tf::kind_of_text(contents.text().substr(0, 4096));
}

std::string saved_model_file(const std::string& directory) {
  for (const char* name : {"saved_model.pb", "saved_model.pbtxt"})
    if (fs::exists(fs::path(directory) / name)) return (fs::path(directory) / name).string();
  return {};
}

std::string tfjs_file(const std::string& directory) {
  const fs::path file = fs::path(directory) / "model.json";
  return fs::exists(file) ? file.string() : "";
}

}  // namespace ingot::driver::tensorflow
