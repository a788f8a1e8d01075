// TensorFlow's models where TF.js can run them.
#include "ingot/driver/tfjs.h"

#include <algorithm>
#include <filesystem>

#include "ingot/base/atomic_file.h"
#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/keras/load.h"
#include "ingot/driver/tensorflow/freeze.h"
#include "ingot/formats/tfjs/graph_model.h"
#include "ingot/formats/tfjs/graph_model_writer.h"
#include "ingot/ir/model.h"

namespace ingot::driver {
namespace {

namespace fs = std::filesystem;
namespace tf = formats::tensorflow;

void list_nodes(TfjsModel& model, const tf::GraphDef& graph) {
  for (const tf::NodeDef& node : graph.nodes) {
    model.nodes.push_back(node.name);
    model.operators.emplace_back(node.name, node.op);
  }
  std::ranges::sort(model.nodes);
  std::ranges::sort(model.operators);
}

void list_ports(TfjsModel& model, const tf::Signature& signature) {
  for (const auto& [name, info] : signature.inputs) model.inputs.emplace_back(name, info.name);
  for (const auto& [name, info] : signature.outputs) model.outputs.emplace_back(name, info.name);
}

void write_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace

TfjsModel wrap_for_tfjs(const std::string& path, const Model& imported, const LoadOptions& options,
                        const std::string& directory) {
  Budget& budget = options.budget ? *options.budget : Budget::unlimited();
  const bool is_directory = fs::is_directory(path);
  const fs::path file = is_directory ? fs::path(path) / "model.json" : fs::path(path);
  TfjsModel model;
  if (auto layers = keras::wrap_as_layers_model(path, imported, options, directory)) return std::move(*layers);
  if (fs::exists(file)) {
    const Bytes contents = map_file(file.string());
    if (formats::tfjs::looks_like_graph_model(contents)) {
      const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
      const auto graph_model =
          formats::tfjs::read_graph_model(contents, folder, {.allow_links = options.allow_links}, budget);
      model.file = file.string();
      list_nodes(model, graph_model.graph);
      if (graph_model.signature) list_ports(model, *graph_model.signature);
      return model;
    }
  }
  std::vector<std::string> outputs;
  for (const Value* v : imported.graph->outputs()) outputs.push_back(v->name());
  tensorflow::FrozenGraph frozen = tensorflow::freeze(path, outputs, options);
  model.inputs = std::move(frozen.inputs);
  model.outputs = std::move(frozen.outputs);
  list_nodes(model, frozen.graph);
  const formats::tfjs::GraphModelFiles files = formats::tfjs::to_graph_model(frozen.graph, budget);
  model.file = (fs::path(directory) / "model.json").string();
  write_file((fs::path(directory) / "weights.bin").string(), files.weights);
  write_file(model.file, files.json);
  return model;
}

std::string operator_of(const TfjsModel& model, const std::string& node) {
  const auto it = std::ranges::lower_bound(model.operators, node, {}, &std::pair<std::string, std::string>::first);
  return it != model.operators.end() && it->first == node ? it->second : "";
}

}  // namespace ingot::driver
