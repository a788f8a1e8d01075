// ONNX files.
#include "ingot/driver/formats/onnx.h"

#include "ingot/base/error.h"
#include "ingot/driver/formats/rows.h"
#include "ingot/driver/load.h"
#include "ingot/ir/model.h"
#include "ingot/onnx/writer.h"

namespace ingot::driver::rows {
namespace {

Certainty recognise_onnx(const Source& source) {
  // Any message of protocol buffers may look like one.
  return !source.is_directory && onnx::looks_like_onnx(source.contents) ? Certainty::possible : Certainty::no;
}

Imported load_onnx(const Source& source, const LoadOptions& options) {
  Imported imported;
  onnx::ReadOptions read = read_options(options);
  read.notes = &imported.notes;
  imported.model = onnx::read(source.contents, source.directory(), read);
  const Graph& graph = *imported.model.graph;
  if (graph.name.empty() && graph.inputs().empty() && graph.initializers().empty() && graph.node_count() == 0 &&
      graph.output_count() == 0)
    throw Error(Code::not_a_model, "the file holds no graph").hint("it is no ONNX model, or only a part of one");
  return imported;
}

std::vector<std::string> save_onnx(const Model& model, const std::string& path, const SaveOptions& options) {
  onnx::WriteOptions write{.external_data = options.external_data};
  if (options.external_threshold) write.external_threshold = *options.external_threshold;
  onnx::write(model, path, write);
  return {};
}

constexpr std::string_view kExtensions[] = {".onnx"};

}  // namespace

constinit const Vocabulary kOnnxOperators = {.name = "onnx"};
constinit const std::string_view kOnnxRuntimes[1] = {"ort"};

constinit const Format kOnnxFormat = {
    .name = "onnx",
    .title = "ONNX",
    .extensions = kExtensions,
    .is_onnx = true,
    .operators = &kOnnxOperators,
    .runtimes = kOnnxRuntimes,
    .recognise = recognise_onnx,
    .load = load_onnx,
    .import_options = kOnnxImportOptions,
    .save = save_onnx,
    .export_options = kOnnxExportOptions | OptionSet{Option::external_data, Option::external_threshold},
    .is_one_file = true,
};

}  // namespace ingot::driver::rows
