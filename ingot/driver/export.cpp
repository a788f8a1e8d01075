// A model as another framework's file.
#include "ingot/driver/export.h"

#include "ingot/backends/tflite/export.h"
#include "ingot/base/error.h"
#include "ingot/base/file_set.h"
#include "ingot/formats/tflite/writer.h"

namespace ingot::driver {
namespace {

backends::tflite::AutoCast auto_cast_of(const std::string& word) {
  using backends::tflite::AutoCast;
  if (word == "none") return AutoCast::none;
  if (word == "up") return AutoCast::up;
  if (word == "all") return AutoCast::all;
  throw Error(Code::bad_usage, "'" + word + "' is not a rule for casts").hint("none, up or all");
}

std::optional<passes::Layout> layout_of(const std::string& word) {
  if (word.empty()) return std::nullopt;
  if (const auto layout = passes::layout_by_name(word)) return layout;
  throw Error(Code::bad_usage, "'" + word + "' is not a layout").hint("nchw or nhwc");
}

backends::tflite::ExportOptions tflite_options(const ExportOptions& options) {
  backends::tflite::ExportOptions tflite;
  tflite.auto_cast = auto_cast_of(options.auto_cast);
  tflite.float16_weights = options.weights == "float16";
  if (!options.weights.empty() && !tflite.float16_weights)
    throw Error(Code::bad_usage, "'" + options.weights + "' is no form of weights").hint("float16");
  tflite.native_lstm = options.native_lstm;
  tflite.allow_custom = options.allow_custom;
  tflite.inputs_as = layout_of(options.inputs_as);
  tflite.outputs_as = layout_of(options.outputs_as);
  return tflite;
}

void export_tflite(const Model& model, const std::string& path, const ExportOptions& options, ConvertReport& report) {
  const backends::tflite::Exported made = backends::tflite::to_tflite(model, tflite_options(options));
  for (const std::string& note : made.notes) report.notes.push_back(note);
  if (made.layout.transposes_before || made.layout.transposes_after)
    report.notes.push_back("transposes: " + std::to_string(made.layout.transposes_before) + " in the model, " +
                           std::to_string(made.layout.transposes_after) + " in the file");
  FileSet files(path);
  formats::tflite::write(made.model, files.model());
  files.commit();
}

}  // namespace

bool is_foreign(Format format) { return format == Format::tflite; }

void export_model(const Model& model, const std::string& path, Format format, const ExportOptions& options,
                  ConvertReport& report) {
  if (format == Format::tflite) return export_tflite(model, path, options, report);
  throw Error(Code::bad_usage, std::string(info_of(format).title) + " files cannot be written");
}

std::vector<ExportObstacle> export_obstacles(const Model& model, Format format, const ExportOptions& options) {
  std::vector<ExportObstacle> list;
  if (format != Format::tflite) return list;
  for (auto& o : backends::tflite::find_obstacles(model, tflite_options(options)))
    list.push_back({std::move(o.where), std::move(o.op), std::move(o.reason), std::move(o.remedy)});
  return list;
}

std::vector<ExportLine> exported_operators(Format format) {
  if (format != Format::tflite)
    throw Error(Code::bad_usage, "operators are known for tflite, not for " + std::string(info_of(format).name));
  std::vector<ExportLine> lines;
  for (const backends::tflite::OperatorSupport& s : backends::tflite::supported_operators())
    lines.push_back({s.domain.empty() ? "ai.onnx" : s.domain, s.op, s.is_native, s.decomposes});
  return lines;
}

}  // namespace ingot::driver
