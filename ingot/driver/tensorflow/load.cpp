// TensorFlow's models.
#include "ingot/driver/tensorflow/load.h"

#include <filesystem>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/safe_path.h"
#include "ingot/driver/formats/rows.h"
#include "ingot/driver/tensorflow/files.h"
#include "ingot/driver/tensorflow/signature.h"
#include "ingot/formats/tfjs/graph_model.h"

namespace ingot::driver::tensorflow {
namespace {

namespace tf = formats::tensorflow;
namespace front = frontends::tensorflow;

front::ImportMode mode_of(Mode mode) {
  if (mode == Mode::both) return front::ImportMode::both;
  return mode == Mode::training ? front::ImportMode::training : front::ImportMode::inference;
}

front::ImportOptions import_options(const LoadOptions& options) {
  front::ImportOptions import;
  import.inputs = options.import.inputs;
  import.outputs = options.import.outputs;
  import.input_shapes = options.import.input_shapes;
  import.custom = options.import.allow_custom;
  import.keep_functions = options.import.keep_functions;
  if (!options.import.strings.empty() && options.import.strings != "contrib")
    throw Error(Code::bad_usage, "--strings is '" + options.import.strings + "'").hint("contrib is all there is");
  import.strings_contrib = !options.import.strings.empty();
  import.mode = mode_of(options.import.mode.value_or(Mode::inference));
  import.budget = options.budget;
  return import;
}

Imported imported(const tf::GraphDef& graph, const front::ImportOptions& import, const front::ModelFiles& files = {}) {
  front::ImportResult result = front::import_graph(graph, import, files);
  // What is trained stays as it is.
  const bool answers = import.mode == front::ImportMode::inference;
  return {.model = std::move(result.model),
          .notes = std::move(result.notes),
          .folds_constants = answers,
          .is_channels_last = answers,
          .spells_out_cells = true,
          .blank = std::move(result.blank)};
}

Imported import_meta_graph(const tf::MetaGraph& meta, const front::ModelFiles& files, const LoadOptions& options) {
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
  return imported(meta.graph, import, files);
}

/// A plain graph says neither; meta graphs have no tags.
void refuse_choice(const ImportOptions& import, bool has_signatures) {
  const bool has_signature = !import.signature.empty();
  if (!import.tag.empty())
    throw Error(Code::bad_usage, "the graph has no tags: there is nothing for --tag to choose from")
        .hint("--tag chooses among the graphs of a SavedModel");
  if (has_signature && !has_signatures)
    throw Error(Code::bad_usage, "the graph has no signatures: there is nothing for --signature to choose from")
        .hint("--inputs and --outputs choose parts of a graph");
}

/// The user names the directory, and its maker the file in it: links are as suspicious as in any other place of it.
Bytes contents_of(const Source& source, const std::string& file, const char* what, const LoadOptions& options) {
  if (!source.is_directory) return source.contents;
  if (file.empty()) throw Error(Code::unknown_format, std::string("the directory holds no ") + what);
  return map_beneath(source.path, std::filesystem::path(file).filename().string(),
                     {.allow_links = options.allow_links});
}

}  // namespace

FileContents describe_saved_model(const Source& source, const LoadOptions& options) {
  const std::string directory = source.directory();
  const Bytes contents = contents_of(source, saved_model_file(directory), "SavedModel", options);
  const tf::MetaGraph meta = open_saved_model(directory, contents, options).meta;
  FileContents described;
  for (const tf::NodeDef& node : meta.graph.nodes) ++described.operators[node.op];
  for (const tf::Signature& signature : meta.signatures) {
    described.signatures.push_back({signature.key});
    for (const auto& [name, info] : signature.inputs) described.signatures.back().inputs.push_back(name);
    for (const auto& [name, info] : signature.outputs) described.signatures.back().outputs.push_back(name);
  }
  return described;
}

Imported load_saved_model(const Source& source, const LoadOptions& options) {
  const std::string directory = source.directory();
  const Bytes contents = contents_of(source, saved_model_file(directory), "SavedModel", options);
  const MetaSource graph = open_saved_model(directory, contents, options);
  Imported result = import_meta_graph(graph.meta, graph.files, options);
  result.format = &rows::kSavedModelFormat;
  return result;
}

Imported load_tfjs(const Source& source, const LoadOptions& options) {
  Budget& budget = options.budget ? *options.budget : Budget::unlimited();
  const PathPolicy policy{.allow_links = options.allow_links};
  const std::string directory = source.directory();
  const Bytes contents = contents_of(source, tfjs_file(directory), "TF.js model", options);
  const formats::tfjs::GraphModel model = formats::tfjs::read_graph_model(contents, directory, policy, budget);
  refuse_choice(options.import, false);
  front::ImportOptions import = import_options(options);
  if (model.signature) {
    import.signature_inputs = ports_of(model.signature->inputs);
    import.signature_outputs = ports_of(model.signature->outputs);
  }
  Imported result = imported(model.graph, import);
  result.format = &rows::kTensorflowJsFormat;
  return result;
}

Imported load_graph(const Source& source, const LoadOptions& options) {
  if (source.is_directory)
    return saved_model_file(source.path).empty() ? load_tfjs(source, options) : load_saved_model(source, options);
  const auto kind = kind_of(source.contents);
  if (kind == tf::FileKind::saved_model) return load_saved_model(source, options);
  if (kind == tf::FileKind::meta_graph) {
    refuse_choice(options.import, true);
    const MetaSource graph = open_meta_graph(source.path, source.contents, options);
    return import_meta_graph(graph.meta, graph.files, options);
  }
  if (has_old_weights(source.path)) return load_tfjs(source, options);
  refuse_choice(options.import, false);
  return imported(open_graph(source.path, source.contents, options).meta.graph, import_options(options));
}

std::vector<std::string> translated_operators() {
  std::vector<std::string> names;
  for (const std::string_view op : front::covered_operators()) names.emplace_back(op);
  return names;
}

}  // namespace ingot::driver::tensorflow
