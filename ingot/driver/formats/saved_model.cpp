// TensorFlow's SavedModels: a directory, or the file in it.
#include "ingot/driver/formats/rows.h"
#include "ingot/driver/formats/tensorflow.h"
#include "ingot/driver/tensorflow/files.h"
#include "ingot/driver/tensorflow/load.h"
#include "ingot/driver/tensorflow/save.h"

namespace ingot::driver::rows {
namespace {

namespace tf = ingot::formats::tensorflow;

Certainty recognise_saved_model(const Source& source) {
  if (source.is_directory)
    return tensorflow::saved_model_file(source.path).empty() ? Certainty::no : Certainty::certain;
  if (const auto kind = tf::kind_of(source.contents))
    return *kind == tf::FileKind::saved_model ? Certainty::sure : Certainty::no;
  const auto kind = tf::kind_of_text(source.contents.text().substr(0, 4096));
  return kind == tf::FileKind::saved_model ? Certainty::likely : Certainty::no;
}

}  // namespace

constinit const Format kSavedModelFormat = {
    .name = "savedmodel",
    .title = "TensorFlow SavedModel",
    .operators = &kTensorflowOperators,
    .runtimes = kTensorflowRuntimes,
    .recognise = recognise_saved_model,
    .describe = tensorflow::describe_saved_model,
    .load = tensorflow::load_saved_model,
    .import_options = kTensorflowImportOptions | OptionSet{Option::signature, Option::tag},
    .save = tensorflow::save_saved_model,
    .export_options = kTensorflowExportOptions | OptionSet{Option::variables},
};

}  // namespace ingot::driver::rows
