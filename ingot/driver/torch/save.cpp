// ONNX models as PyTorch's files.
#include "ingot/driver/torch/save.h"

#include <algorithm>

#include "ingot/backends/torch/export.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/directory_set.h"
#include "ingot/base/file_set.h"
#include "ingot/driver/export_lists.h"
#include "ingot/driver/load.h"
#include "ingot/formats/torch/safetensors.h"
#include "ingot/formats/torch/script_archive.h"
#include "ingot/ir/model.h"
#include "ingot/train/training_info.h"

namespace ingot::driver::torch {
namespace {

namespace back = backends::torch;
namespace files = formats::torch;

back::ExportOptions export_options(const SaveOptions& options) {
  back::ExportOptions made;
  made.auto_cast = options.auto_cast.value_or(AutoCast::none);
  return made;
}

bool is_part_of_source(std::string_view entry) {
  constexpr std::string_view kEntries[] = {"__pycache__", "model.py", "train_step.py", "training.safetensors",
                                           "weights.safetensors"};
  return std::ranges::find(kEntries, entry) != std::end(kEntries);
}

void write_source(const back::Source& source, const DirectorySet& set, const std::string& code,
                  const std::string& weights) {
  AtomicFile text(set.path_of(code));
  text.write(std::as_bytes(std::span(source.code)));
  text.commit();
  AtomicFile data(set.path_of(weights));
  files::write_safetensors(source.weights, data);
  data.commit();
}

/// The step that the model's first training information describes.
back::Source train_step_of(const Model& model, const back::ExportOptions& options) {
  const train::TrainingGraph training = train::read_training_info(model);
  const Model step = train::step_graph(training);
  std::vector<back::StepState> state;
  for (const Value* input : step.graph->inputs()) {
    const Value* variable = training.model.graph->find(input->name());
    if (!variable || !variable->initializer) continue;
    const bool changes =
        std::ranges::find(training.state, input->name(), &train::TrainingGraph::State::name) != training.state.end();
    state.push_back({.name = input->name(),
                     .next = changes ? train::next_name(input->name()) : std::string(),
                     .value = *variable->initializer});
  }
  return back::to_train_step(step, state, options);
}

}  // namespace

std::vector<std::string> save_script(const Model& model, const std::string& path, const SaveOptions& options) {
  back::Exported made = back::to_torch(model, export_options(options));
  FileSet set(path);
  files::write_script(made.archive, set.model());
  set.commit();
  return std::move(made.notes);
}

std::vector<std::string> save_source(const Model& model, const std::string& path, const SaveOptions& options) {
  back::Source made = back::to_source(model, export_options(options));
  DirectorySet set(path, is_part_of_source);
  write_source(made, set, "model.py", "weights.safetensors");
  if (!model.training.empty()) {
    write_source(train_step_of(model, export_options(options)), set, "train_step.py", "training.safetensors");
    if (model.training.size() > 1)
      made.notes.push_back("train_step.py is the first of " + std::to_string(model.training.size()) + " algorithms");
  }
  set.commit();
  return std::move(made.notes);
}

std::vector<ExportLine> exported_operators() { return lines_of(back::supported_operators()); }

std::vector<ExportObstacle> obstacles_of(const Model& model, const SaveOptions& options) {
  return lines_of(back::find_obstacles(model, export_options(options)));
}

}  // namespace ingot::driver::torch
