// Keras's models: .h5, .keras, architectures as JSON, and TF.js layers-models.
#include "ingot/base/mapped_file.h"
#include "ingot/driver/formats/rows.h"
#include "ingot/driver/keras/load.h"
#include "ingot/driver/keras/save.h"
#include "ingot/driver/tensorflow/files.h"
#include "ingot/formats/keras/model_file.h"
#include "ingot/formats/tfjs/graph_model.h"
#include "ingot/frontends/keras/import.h"

namespace ingot::driver::rows {
namespace {

namespace tfjs = ingot::formats::tfjs;

Certainty recognise_keras(const Source& source) {
  if (source.is_directory) {
    const std::string file = tensorflow::tfjs_file(source.path);
    return !file.empty() && tfjs::looks_like_layers_model(map_file(file)) ? Certainty::sure : Certainty::no;
  }
  if (ingot::formats::keras::looks_like_keras(source.contents) || tfjs::looks_like_layers_model(source.contents))
    return Certainty::sure;
  return ingot::formats::keras::looks_like_architecture(source.contents) ? Certainty::likely : Certainty::no;
}

std::string why_not_verified(const ImportOptions& import) {
  if (!import.outputs.empty()) return "the model was cut; TF.js begins and ends where the file does";
  if (!import.allow_custom.empty()) return "TF.js does not know layers of your own";
  return "";
}

constexpr std::string_view kExtensions[] = {".keras", ".h5", ".hdf5"};
constexpr std::string_view kRuntimes[] = {"tfjs"};
constexpr Vocabulary kLayers = {.name = "keras",
                                .translated = frontends::keras::translated_layers,
                                .exported = keras::exported_operators,
                                .obstacles = keras::obstacles_of};

}  // namespace

constinit const Format kKerasFormat = {
    .name = "keras",
    .title = "Keras",
    .extensions = kExtensions,
    .operators = &kLayers,
    .runtimes = kRuntimes,
    .recognise = recognise_keras,
    .load = keras::load_keras,
    .import_options = {Option::outputs, Option::functions, Option::map_ops, Option::keep_nhwc, Option::mode,
                       Option::weights_from, Option::allow_custom, Option::inputs_as, Option::outputs_as},
    .save = keras::save_layers,
    .export_options = {Option::inputs_as, Option::outputs_as},
    .why_not_verified = why_not_verified,
};

}  // namespace ingot::driver::rows
