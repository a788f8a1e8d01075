#pragma once
#include <optional>
#include <string>

#include "ingot/driver/load.h"
#include "ingot/driver/tfjs.h"
#include "ingot/formats/keras/model_file.h"
#include "ingot/frontends/keras/import.h"

namespace ingot::driver::keras {

Imported load_keras(const Source& source, const LoadOptions& options);
/// The file in whatever form it is, with the weights that the options name.
formats::keras::ModelFile open_model(const Source& source, const LoadOptions& options);

/// What compile() was told becomes the model's training information, with the optimizer's variables as the file has
/// them. Notes go to `imported`; `made`: what the
/// frontend told beside the model.
void add_training(Imported& imported, const formats::keras::ModelFile& file, const frontends::keras::Imported& made);

/// A Keras model in the form that TF.js runs; nothing: the path leads to something else.
std::optional<TfjsModel> wrap_as_layers_model(const std::string& path, const Model& imported,
                                              const LoadOptions& options, const std::string& directory);

}  // namespace ingot::driver::keras
