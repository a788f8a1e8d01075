// TFLite files.
#include "ingot/backends/tflite/export.h"
#include "ingot/base/file_set.h"
#include "ingot/driver/formats/rows.h"
#include "ingot/driver/load.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/source_note.h"
#include "ingot/formats/tflite/writer.h"
#include "ingot/frontends/tflite/import.h"

namespace ingot::driver::rows {
namespace {

namespace back = backends::tflite;
namespace files = formats::tflite;
namespace front = frontends::tflite;

Certainty recognise_tflite(const Source& source) {
  return !source.is_directory && files::looks_like_tflite(source.contents) ? Certainty::certain : Certainty::no;
}

std::optional<Layout> moved(const files::Model& file, std::string_view values) {
  if (files::source_note(file, values) != files::kChannelsLastNote) return std::nullopt;
  return Layout::channels_last;
}

Imported load_tflite(const Source& source, const LoadOptions& options) {
  const files::Model file = files::read(source.contents, {.budget = options.budget});
  front::ImportOptions import;
  import.dequantize = options.import.dequantize;
  import.signature = options.import.signature;
  import.inputs = options.import.inputs;
  import.outputs = options.import.outputs;
  import.input_shapes = options.import.input_shapes;
  import.allow_custom = options.import.allow_custom;
  front::Imported imported = front::import_model(file, import);
  // The translation lays out weights itself; folding more would undo quantisation.
  return {.model = std::move(imported.model),
          .notes = std::move(imported.notes),
          .is_channels_last = true,
          .written_as = {moved(file, "inputs_as"), moved(file, "outputs_as")}};
}

back::ExportOptions export_options(const SaveOptions& options) {
  back::ExportOptions tflite;
  tflite.auto_cast = options.auto_cast.value_or(AutoCast::none);
  tflite.float16_weights = options.weights == WeightForm::float16;
  tflite.native_lstm = options.native_lstm;
  tflite.allow_custom = options.allow_custom;
  tflite.inputs_as = options.layout.inputs_as;
  tflite.outputs_as = options.layout.outputs_as;
  return tflite;
}

std::vector<std::string> save_tflite(const Model& model, const std::string& path, const SaveOptions& options) {
  back::Exported made = back::to_tflite(model, export_options(options));
  if (made.layout.transposes_before || made.layout.transposes_after)
    made.notes.push_back("transposes: " + std::to_string(made.layout.transposes_before) + " in the model, " +
                         std::to_string(made.layout.transposes_after) + " in the file");
  FileSet set(path);
  files::write(made.model, set.model());
  set.commit();
  return std::move(made.notes);
}

std::vector<ExportLine> exported() {
  std::vector<ExportLine> lines;
  for (const back::OperatorSupport& s : back::supported_operators())
    lines.push_back({s.domain.empty() ? "ai.onnx" : s.domain, s.op, s.is_native, s.decomposes});
  return lines;
}

std::vector<ExportObstacle> obstacles(const Model& model, const SaveOptions& options) {
  std::vector<ExportObstacle> list;
  for (back::Obstacle& o : back::find_obstacles(model, export_options(options)))
    list.push_back({std::move(o.where), std::move(o.op), std::move(o.reason), std::move(o.remedy), name_of(o.kind)});
  return list;
}

std::string why_not_verified(const ImportOptions& import) {
  if (!import.inputs.empty() || !import.outputs.empty())
    return "the graph was cut; TFLite's runtimes begin and end where the file does";
  if (!import.signature.empty()) return "TFLite's runtimes are asked about the main graph, not about signatures";
  return import.dequantize ? "quantised values became floats" : "";
}

constexpr std::string_view kExtensions[] = {".tflite"};
constexpr std::string_view kRuntimes[] = {"tflite", "litert"};
constexpr Vocabulary kOperators = {
    .name = "tflite", .translated = front::translated_operators, .exported = exported, .obstacles = obstacles};

}  // namespace

constinit const Format kTflite = {
    .name = "tflite",
    .title = "TFLite",
    .extensions = kExtensions,
    .operators = &kOperators,
    .runtimes = kRuntimes,
    .recognise = recognise_tflite,
    .load = load_tflite,
    .import_options = {Option::signature, Option::inputs, Option::outputs, Option::functions, Option::dequantize,
                       Option::allow_custom, Option::inputs_as, Option::outputs_as},
    .save = save_tflite,
    .export_options = {Option::auto_cast, Option::weights, Option::native_lstm, Option::allow_custom, Option::inputs_as,
                       Option::outputs_as},
    .why_not_verified = why_not_verified,
    .is_one_file = true,
};

}  // namespace ingot::driver::rows
