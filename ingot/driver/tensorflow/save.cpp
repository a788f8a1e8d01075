// ONNX models as TensorFlow's files.
#include "ingot/driver/tensorflow/save.h"

#include <algorithm>

#include "ingot/backends/tensorflow/export.h"
#include "ingot/backends/tensorflow/saved_model.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/budget.h"
#include "ingot/base/directory_set.h"
#include "ingot/base/error.h"
#include "ingot/driver/export_lists.h"
#include "ingot/driver/import_layout.h"
#include "ingot/driver/load.h"
#include "ingot/driver/tensorflow/training.h"
#include "ingot/formats/tensorflow/checkpoint_writer.h"
#include "ingot/formats/tensorflow/writer.h"
#include "ingot/formats/tfjs/graph_model_writer.h"
#include "ingot/ir/model.h"

namespace ingot::driver::tensorflow {
namespace {

namespace back = backends::tensorflow;
namespace tf = formats::tensorflow;
namespace tfjs = formats::tfjs;

back::ExportOptions export_options(const SaveOptions& options, back::Dialect dialect, bool has_tables = false) {
  back::ExportOptions export_as;
  export_as.dialect = dialect;
  export_as.has_tables = has_tables;
  export_as.has_ragged_ports = options.sequences == Sequences::ragged;
  export_as.auto_cast = options.auto_cast.value_or(AutoCast::none);
  return export_as;
}

/// The model with its inputs and outputs in the layouts that are wished.
back::Exported exported_as_wished(const Model& model, const SaveOptions& options,
                                  const back::ExportOptions& export_as) {
  std::vector<std::string> notes;
  back::Exported made;
  if (options.layout.inputs_as || options.layout.outputs_as) {
    Model settled = model.clone();
    wish_layout(settled, options.layout, notes);
    made = back::to_tensorflow(settled, export_as);
  } else {
    made = back::to_tensorflow(model, export_as);
  }
  made.notes.insert(made.notes.begin(), notes.begin(), notes.end());
  if (made.layout.transposes_before || made.layout.transposes_after)
    made.notes.push_back("transposes: " + std::to_string(made.layout.transposes_before) + " in the model, " +
                         std::to_string(made.layout.transposes_after) + " in the file");
  return made;
}

std::vector<ExportLine> lines_for(back::Dialect dialect) { return lines_of(back::supported_operators(dialect)); }

std::vector<ExportObstacle> obstacles_for(const Model& model, const SaveOptions& options, back::Dialect dialect) {
  return lines_of(back::find_obstacles(model, export_options(options, dialect)));
}

bool is_part_of_tfjs(std::string_view entry) {
  return entry == "model.json" || (entry.starts_with("group") && entry.ends_with(".bin")) || entry == "weights.bin";
}

bool is_part_of_saved_model(std::string_view entry) {
  constexpr std::string_view kEntries[] = {"assets",    "assets.extra",     "debug", "fingerprint.pb", "saved_model.pb",
                                           "variables", "keras_metadata.pb"};
  return std::ranges::find(kEntries, entry) != std::end(kEntries);
}

tfjs::StoredWeights stored_as(Quantize quantize) {
  switch (quantize) {
    case Quantize::float16:
      return tfjs::StoredWeights::float16;
    case Quantize::uint8:
      return tfjs::StoredWeights::uint8;
    case Quantize::uint16:
      return tfjs::StoredWeights::uint16;
  }
  return tfjs::StoredWeights::as_is;
}

/// "web/model.json" means the directory.
std::string directory_of(const std::string& path) {
  const SplitPath split = split_path(path);
  return split.name == "model.json" ? split.directory : path;
}

}  // namespace

std::vector<std::string> save_graph(const Model& model, const std::string& path, const SaveOptions& options) {
  if (path.ends_with(".pbtxt") || path.ends_with(".meta"))
    throw Error(Code::not_writable, "graphs are written in their binary form only").hint("name a .pb file");
  back::ExportOptions export_as = export_options(options, back::Dialect::tensorflow);
  export_as.outputs_are_ends = true;
  back::Exported made = exported_as_wished(model, options, export_as);
  for (const auto* ports : {&made.signature.inputs, &made.signature.outputs})
    for (const auto& [name, info] : *ports)
      if (info.name != name + ":0") made.notes.push_back("'" + name + "' is '" + info.name + "' in the graph");
  AtomicFile file(path);
  tf::write_graph(made.graph, file);
  file.commit();
  return std::move(made.notes);
}

std::vector<std::string> save_saved_model(const Model& model, const std::string& path, const SaveOptions& options) {
  std::vector<std::string> notes;
  std::vector<back::SignatureGraph> graphs(1);
  std::vector<back::SavedVariable> variables;
  if (!model.training.empty()) variables = training_variables(model);
  graphs[0].key = "serving_default";
  graphs[0].keeps_variables = options.variables;
  // Only this format says what is to be done when it is loaded.
  const back::ExportOptions export_as = export_options(options, back::Dialect::tensorflow, true);
  graphs[0].exported = variables.empty() ? exported_as_wished(model, options, export_as)
                                         : exported_as_wished(with_inputs_for(model, variables), options, export_as);
  notes = std::move(graphs[0].exported.notes);
  if (!variables.empty()) add_training(model, export_options(options, back::Dialect::tensorflow), graphs, notes);
  back::SavedParts parts = back::to_saved_model(std::move(graphs), variables);
  DirectorySet files(path, is_part_of_saved_model);
  {
    AtomicFile index(files.path_of("variables/variables.index"));
    AtomicFile data(files.path_of("variables/variables.data-00000-of-00001"));
    tf::write_checkpoint(std::move(parts.checkpoint), index, data);
    data.commit();
    index.commit();
  }
  for (const auto& [name, text] : parts.assets) {
    AtomicFile asset(files.path_of("assets/" + name));
    asset.write(text);
    asset.commit();
  }
  AtomicFile file(files.path_of("saved_model.pb"));
  tf::write_saved_model(parts.model, file);
  file.commit();
  files.commit();
  return notes;
}

std::vector<std::string> save_tfjs(const Model& model, const std::string& path, const SaveOptions& options) {
  back::Exported made = exported_as_wished(model, options, export_options(options, back::Dialect::tfjs));
  tfjs::GraphModelOptions how;
  how.signature = &made.signature;
  if (options.quantize) how.weights = stored_as(*options.quantize);
  DirectorySet files(directory_of(path), is_part_of_tfjs);
  tfjs::write_graph_model(made.graph, how, Budget::unlimited(),
                          [&](const std::string& name, const std::function<void(Sink&)>& write) {
                            AtomicFile file(files.path_of(name));
                            write(file);
                            file.commit();
                          });
  files.commit();
  return std::move(made.notes);
}

std::vector<ExportLine> exported_operators() { return lines_for(back::Dialect::tensorflow); }
std::vector<ExportLine> exported_operators_of_tfjs() { return lines_for(back::Dialect::tfjs); }
std::vector<ExportObstacle> obstacles_of(const Model& model, const SaveOptions& options) {
  return obstacles_for(model, options, back::Dialect::tensorflow);
}
std::vector<ExportObstacle> obstacles_of_tfjs(const Model& model, const SaveOptions& options) {
  return obstacles_for(model, options, back::Dialect::tfjs);
}

}  // namespace ingot::driver::tensorflow
