// TensorFlow's graphs: frozen, as text, or with a checkpoint beside them.
#include "ingot/driver/formats/tensorflow.h"

#include "ingot/driver/formats/rows.h"
#include "ingot/driver/tensorflow/load.h"
#include "ingot/driver/tensorflow/save.h"
#include "ingot/formats/tensorflow/reader.h"

namespace ingot::driver::rows {
namespace {

namespace tf = ingot::formats::tensorflow;

Certainty recognise_graph(const Source& source) {
  if (source.is_directory) return Certainty::no;
  if (const auto kind = tf::kind_of(source.contents))
    return *kind == tf::FileKind::saved_model ? Certainty::no : Certainty::sure;
  const auto kind = tf::kind_of_text(source.contents.text().substr(0, 4096));
  return kind && *kind != tf::FileKind::saved_model ? Certainty::likely : Certainty::no;
}

constexpr std::string_view kExtensions[] = {".pb", ".pbtxt", ".meta"};

}  // namespace

constinit const Vocabulary kTensorflowOperators = {.name = "tensorflow",
                                                   .translated = tensorflow::translated_operators,
                                                   .exported = tensorflow::exported_operators,
                                                   .obstacles = tensorflow::obstacles_of};
constinit const std::string_view kTensorflowRuntimes[1] = {"tfjs"};

constinit const Format kTensorflowFormat = {
    .name = "tensorflow",
    .title = "TensorFlow graph",
    .extensions = kExtensions,
    .operators = &kTensorflowOperators,
    .runtimes = kTensorflowRuntimes,
    .recognise = recognise_graph,
    .load = tensorflow::load_graph,
    // A meta graph has signatures, and what was called a graph may turn out to be a SavedModel; the reader refuses both
    // where there is nothing to choose from.
    .import_options = kTensorflowImportOptions | OptionSet{Option::signature, Option::tag},
    .save = tensorflow::save_graph,
    .export_options = kTensorflowExportOptions,
};

}  // namespace ingot::driver::rows
