// Keras's models.
#include "ingot/driver/keras/load.h"

#include <filesystem>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/formats/rows.h"
#include "ingot/driver/tensorflow/files.h"
#include "ingot/formats/tfjs/graph_model.h"

namespace ingot::driver::keras {

namespace files = formats::keras;

files::ModelFile open_model(const Source& source, const LoadOptions& options) {
  Budget& budget = options.budget ? *options.budget : Budget::unlimited();
  const Bytes contents = source.is_directory ? map_file(tensorflow::tfjs_file(source.path)) : source.contents;
  files::ModelFile model;
  if (formats::tfjs::looks_like_layers_model(contents))
    model = files::read_layers_model(contents, source.directory(), {.allow_links = options.allow_links}, budget);
  else if (files::looks_like_keras(contents))
    model = files::read_model(contents, &budget);
  else
    model = files::read_architecture(contents, &budget);
  if (options.import.weights_from.empty()) return model;
  try {
    const std::filesystem::path path = options.import.weights_from;
    files::read_weights(map_file(path.string()), path.parent_path().string(), {.allow_links = options.allow_links},
                        model, &budget);
  } catch (Error& error) {
    error.in_file(options.import.weights_from);
    throw;
  }
  return model;
}

Imported load_keras(const Source& source, const LoadOptions& options) {
  const files::ModelFile file = open_model(source, options);
  const bool learns = options.import.mode.value_or(Mode::inference) != Mode::inference;
  frontends::keras::ImportOptions import;
  import.outputs = options.import.outputs;
  import.input_shapes = options.import.input_shapes;
  import.allow_custom = options.import.allow_custom;
  import.is_training = learns;
  import.budget = options.budget;
  frontends::keras::Imported made = frontends::keras::import_model(file, import);
  Imported result{.model = std::move(made.model),
                  .notes = std::move(made.notes),
                  .format = &rows::kKerasFormat,
                  .folds_constants = !learns,
                  .is_channels_last = !learns};
  if (learns) add_training(result, file, made);
  return result;
}

}  // namespace ingot::driver::keras
