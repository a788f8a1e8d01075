// TensorFlow.js graph-models: a directory with a model.json, or that file.
#include "ingot/base/mapped_file.h"
#include "ingot/driver/formats/rows.h"
#include "ingot/driver/formats/tensorflow.h"
#include "ingot/driver/tensorflow/files.h"
#include "ingot/driver/tensorflow/load.h"
#include "ingot/driver/tensorflow/save.h"
#include "ingot/formats/tfjs/graph_model.h"

namespace ingot::driver::rows {
namespace {

Certainty recognise_tfjs(const Source& source) {
  // Layers-models are Keras's.
  if (!source.is_directory)
    return ingot::formats::tfjs::looks_like_graph_model(source.contents) ? Certainty::sure : Certainty::no;
  const std::string file = tensorflow::tfjs_file(source.path);
  const bool is_one = !file.empty() && !ingot::formats::tfjs::looks_like_layers_model(map_file(file));
  return is_one ? Certainty::sure : Certainty::no;
}

/// TensorFlow's, of which TF.js runs a part.
constexpr Vocabulary kOperators = {.name = "tensorflow",
                                   .translated = tensorflow::translated_operators,
                                   .exported = tensorflow::exported_operators_of_tfjs,
                                   .obstacles = tensorflow::obstacles_of_tfjs,
                                   .target = "tfjs-4"};

}  // namespace

constinit const Format kTensorflowJsFormat = {
    .name = "tfjs",
    .title = "TensorFlow.js graph-model",
    .operators = &kOperators,
    .runtimes = kTensorflowRuntimes,
    .recognise = recognise_tfjs,
    .load = tensorflow::load_tfjs,
    .import_options = kTensorflowImportOptions,
    .save = tensorflow::save_tfjs,
    .export_options = kTensorflowExportOptions | OptionSet{Option::quantize},
};

}  // namespace ingot::driver::rows
