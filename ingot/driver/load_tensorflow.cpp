// TensorFlow's files: which of them belong together, and what their signatures say.
#include "ingot/driver/load_tensorflow.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/safe_path.h"
#include "ingot/driver/own_functions.h"
#include "ingot/formats/tensorflow/checkpoint.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/formats/tfjs/graph_model.h"
#include "ingot/frontends/tensorflow/checkpoint_keys.h"
#include "ingot/frontends/tensorflow/constants.h"
#include "ingot/frontends/tensorflow/freeze.h"
#include "ingot/frontends/tensorflow/import.h"
#include "ingot/passes/fold.h"
#include "ingot/passes/recurrent_loops.h"
#include "ingot/train/initialization.h"

namespace ingot::driver {
namespace {

namespace fs = std::filesystem;
namespace tf = formats::tensorflow;
namespace front = frontends::tensorflow;

std::string directory_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

/// Variables that no file holds a value of begin as the model's own initialization says.
void begin_blank(front::ImportResult& result) {
  if (result.blank.empty()) return;
  const auto can_begin = [](const TrainingInfo& info) { return info.initialization != nullptr; };
  const bool begins = std::ranges::any_of(result.model.training, can_begin);
  if (begins) train::initialize(result.model);
  result.notes.push_back(std::to_string(result.blank.size()) + " variables have no stored value: they begin as " +
                         (begins ? "the graph says" : "zeros"));
}

/// What every graph goes through once its options are known.
Loaded imported(const tf::GraphDef& graph, front::ImportOptions& import, Format format, const LoadOptions& options,
                const front::ModelFiles& files = {}) {
  OwnFunctions functions(options);
  functions.allow(import.custom);
  front::ImportResult result = front::import_graph(graph, import, files);
  if (const std::size_t loops = passes::recognise_recurrent_loops(result.model))
    result.notes.push_back(std::to_string(loops) + (loops == 1 ? " loop is" : " loops are") +
                           " written as LSTM, GRU or RNN");
  // Weights are transposed here, once, and sizes of fixed shapes are numbers; what is trained stays as it is.
  if (import.mode == front::ImportMode::inference) {
    passes::fold_constants(*result.model.graph);
    for (const auto& function : result.model.functions) passes::fold_constants(*function->body);
    settle_layout(result.model, options.import.layout, result.notes);
  }
  begin_blank(result);
  functions.add_to(result.model);
  return {std::move(result.model), format, std::move(result.notes)};
}

front::ImportOptions import_options(const LoadOptions& options) {
  front::ImportOptions import;
  import.inputs = options.import.inputs;
  import.outputs = options.import.outputs;
  import.input_shapes = options.import.input_shapes;
  import.custom = options.import.allow_custom;
  import.keep_functions = options.import.keep_functions;
  if (options.import.mode == "training") import.mode = front::ImportMode::training;
  if (options.import.mode == "both") import.mode = front::ImportMode::both;
  import.budget = options.budget;
  return import;
}

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

/// The signature that trains, and the operations that a graph of the first kind names.
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

/// The signature asked for, else the one for serving, else the only one.
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

Loaded import_meta_graph(const tf::MetaGraph& meta, const front::ModelFiles& files, Format format,
                         const LoadOptions& options) {
  front::ImportOptions import = import_options(options);
  std::vector<tf::Signature> answering = meta.signatures;
  if (import.mode != front::ImportMode::inference) {
    find_training(meta, import);
    std::erase_if(answering, [](const tf::Signature& s) { return s.key == "train" || s.key.starts_with("train_"); });
  }
  // Where only training is asked for, what answers may be left open.
  const bool may_choose_none =
      import.mode == front::ImportMode::training && options.import.signature.empty() && !import.train_outputs.empty();
  if (const tf::Signature* signature = may_choose_none ? nullptr : signature_of(answering, options.import.signature)) {
    import.signature_inputs = ports_of(signature->inputs);
    import.signature_outputs = ports_of(signature->outputs);
  }
  return imported(meta.graph, import, format, options, files);
}

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

/// A graph of a SavedModel or checkpoint, and the files that it refers to.
struct MetaSource {
  tf::MetaGraph meta;
  front::ModelFiles files;
};

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

/// A .meta file: the checkpoint of the same name lies beside it.
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

/// The old form of TF.js graph-models: a binary graph whose weights lie beside it.
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

Loaded load_saved_model(const std::string& directory, const Bytes& contents, const LoadOptions& options) {
  const MetaSource source = open_saved_model(directory, contents, options);
  return import_meta_graph(source.meta, source.files, Format::saved_model, options);
}

Loaded load_meta_graph(const std::string& path, const Bytes& contents, const LoadOptions& options) {
  const MetaSource source = open_meta_graph(path, contents, options);
  return import_meta_graph(source.meta, source.files, Format::tensorflow, options);
}

Loaded load_tfjs(const std::string& directory, const Bytes& contents, const LoadOptions& options) {
  Budget& budget = options.budget ? *options.budget : Budget::unlimited();
  const PathPolicy policy{.allow_links = options.allow_links};
  const formats::tfjs::GraphModel model = formats::tfjs::read_graph_model(contents, directory, policy, budget);
  front::ImportOptions import = import_options(options);
  if (model.signature) {
    import.signature_inputs = ports_of(model.signature->inputs);
    import.signature_outputs = ports_of(model.signature->outputs);
  }
  return imported(model.graph, import, Format::tfjs, options);
}

}  // namespace

Loaded load_tensorflow(const std::string& path, const Bytes& contents, Format format, const LoadOptions& options) {
  if (format == Format::saved_model) return load_saved_model(directory_of(path), contents, options);
  if (format == Format::tfjs) return load_tfjs(directory_of(path), contents, options);
  auto kind = tf::kind_of(contents);
  if (!kind) kind = tf::kind_of_text(contents.text().substr(0, 4096));
  if (kind == tf::FileKind::meta_graph) return load_meta_graph(path, contents, options);
  if (kind == tf::FileKind::saved_model) return load_saved_model(directory_of(path), contents, options);
  if (has_old_weights(path)) return load_tfjs(directory_of(path), contents, options);
  front::ImportOptions import = import_options(options);
  return imported(open_graph(path, contents, options).meta.graph, import, Format::tensorflow, options);
}

Loaded load_tensorflow_directory(const std::string& path, const LoadOptions& options) {
  for (const char* name : {"saved_model.pb", "saved_model.pbtxt"})
    if (fs::exists(fs::path(path) / name))
      return load_saved_model(path, map_file((fs::path(path) / name).string()), options);
  if (fs::exists(fs::path(path) / "model.json"))
    return load_tfjs(path, map_file((fs::path(path) / "model.json").string()), options);
  Error error(Code::unknown_format, "the directory holds neither a SavedModel nor a TF.js model");
  // Programs that serve models keep their versions in directories side by side.
  std::error_code unreadable;
  std::string inner;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, unreadable))
    for (const char* name : {"saved_model.pb", "model.json"})
      if (fs::exists(entry.path() / name, unreadable)) inner = std::max(inner, entry.path().string());
  if (!inner.empty()) error.hint("there is one in " + inner);
  throw error;
}

FrozenGraph freeze_tensorflow(const std::string& path, const std::vector<std::string>& outputs,
                              const LoadOptions& options) {
  Budget& budget = options.budget ? *options.budget : Budget::unlimited();
  std::string file = path;
  if (fs::is_directory(path))
    for (const char* name : {"saved_model.pbtxt", "saved_model.pb"})
      if (fs::exists(fs::path(path) / name)) file = (fs::path(path) / name).string();
  const Bytes contents = map_file(file);
  auto kind = tf::kind_of(contents);
  if (!kind) kind = tf::kind_of_text(contents.text().substr(0, 4096));
  const MetaSource source = kind == tf::FileKind::saved_model  ? open_saved_model(directory_of(file), contents, options)
                            : kind == tf::FileKind::meta_graph ? open_meta_graph(file, contents, options)
                                                               : open_graph(file, contents, options);
  FrozenGraph frozen;
  std::vector<std::string> names = outputs, tensors = outputs;
  const bool is_cut = !options.import.outputs.empty();
  if (const tf::Signature* signature =
          is_cut ? nullptr : signature_of(source.meta.signatures, options.import.signature)) {
    for (const front::Port& port : ports_of(signature->inputs)) frozen.inputs.emplace_back(port.name, port.tensor);
    names.clear();
    tensors.clear();
    for (const front::Port& port : ports_of(signature->outputs)) {
      names.push_back(port.name);
      tensors.push_back(port.tensor);
    }
  }
  for (auto* ports : {&options.import.inputs, &options.import.outputs})
    for (const std::string& text : *ports) {
      const std::size_t equals = text.find('=');  // name=tensor
      if (equals == std::string::npos) continue;
      if (ports == &options.import.inputs) frozen.inputs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
      const auto named = std::ranges::find(names, text.substr(0, equals));
      if (ports == &options.import.outputs && named != names.end())
        tensors[static_cast<std::size_t>(named - names.begin())] = text.substr(equals + 1);
    }
  front::Features features;
  frozen.graph = front::freeze(source.meta.graph, source.files, tensors, budget, &features);
  frozen.inputs.insert(frozen.inputs.end(), features.begin(), features.end());
  for (std::size_t i = 0; i < names.size(); ++i) frozen.outputs.emplace_back(names[i], tensors[i]);
  return frozen;
}

}  // namespace ingot::driver
