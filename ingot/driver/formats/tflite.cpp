// TFLite files.
#include "ingot/backends/tflite/export.h"
#include "ingot/base/error.h"
#include "ingot/base/file_set.h"
#include "ingot/driver/export_lists.h"
#include "ingot/driver/formats/rows.h"
#include "ingot/driver/import_layout.h"
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
  return {.model = std::move(imported.model),
          .notes = std::move(imported.notes),
          .folds_constants = true,
          .is_channels_last = true,
          .written_as = {moved(file, "inputs_as"), moved(file, "outputs_as")}};
}

FileContents describe_tflite(const Source& source, const LoadOptions& options) {
  const files::Model file = files::read(source.contents, {.budget = options.budget});
  FileContents contents;
  for (const files::SubGraph& graph : file.subgraphs)
    for (const files::Operator& op : graph.operators) ++contents.operators[files::describe(op.code)];
  for (const files::SignatureDef& signature : file.signature_defs) {
    contents.signatures.push_back({signature.signature_key});
    for (const files::TensorMap& input : signature.inputs) contents.signatures.back().inputs.push_back(input.name);
    for (const files::TensorMap& output : signature.outputs) contents.signatures.back().outputs.push_back(output.name);
  }
  return contents;
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

/// Whether the backend does what is wished by itself: it moves channels of all ports from the front to the end.
bool is_for_backend(const LayoutWish& wish, const Model& model) {
  const passes::PortLayouts known = known_layouts(model);
  const auto are_first = [](const std::vector<std::optional<Layout>>& layouts, const auto& values) {
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      const Value* v = values(i);
      const std::size_t rank = v->type.shape && !v->initializer ? v->type.shape->size() : 0;
      if (rank >= 3 && rank <= 5 && layouts[i] != Layout::channels_first) return false;
    }
    return true;
  };
  const Graph& graph = *model.graph;
  const auto inputs = graph.inputs();
  return (!wish.inputs_as || are_first(known.inputs, [&](std::size_t i) { return inputs[i]; })) &&
         (!wish.outputs_as || are_first(known.outputs, [&](std::size_t i) { return graph.output(i); }));
}

back::Exported exported_as_wished(const Model& model, const SaveOptions& options) {
  const LayoutWish& wish = options.layout;
  if ((!wish.inputs_as && !wish.outputs_as) || is_for_backend(wish, model))
    return back::to_tflite(model, export_options(options));
  Model settled = model.clone();
  std::vector<std::string> notes;
  wish_layout(settled, wish, notes);
  SaveOptions rest = options;
  rest.layout = {};
  back::Exported made = back::to_tflite(settled, export_options(rest));
  made.notes.insert(made.notes.begin(), notes.begin(), notes.end());
  return made;
}

/// Larger files are not held in memory once more.
constexpr std::uint64_t kMostToReadAgain = std::uint64_t{64} << 20;

/// What runtimes look at when they open a file: the flatbuffer's verifier, and that all indices lead somewhere.
void require_loadable(const Bytes& file) {
  try {
    files::read(file);
  } catch (const Error& error) {
    throw Error(Code::internal, "the TFLite file that was made cannot be read: " + error.message());
  }
}

std::vector<std::string> save_tflite(const Model& model, const std::string& path, const SaveOptions& options) {
  back::Exported made = exported_as_wished(model, options);
  if (made.layout.transposes_before || made.layout.transposes_after)
    made.notes.push_back("transposes: " + std::to_string(made.layout.transposes_before) + " in the model, " +
                         std::to_string(made.layout.transposes_after) + " in the file");
  std::uint64_t constants = 0;
  for (const Bytes& buffer : made.model.buffers) constants += buffer.size();
  FileSet set(path);
  if (constants <= kMostToReadAgain) {
    const Bytes file = Bytes::own(files::to_bytes(made.model));
    require_loadable(file);
    set.model().write(file.span());
  } else {
    files::write(made.model, set.model());
  }
  set.commit();
  return std::move(made.notes);
}

std::vector<ExportLine> exported() { return lines_of(back::supported_operators()); }

std::vector<ExportObstacle> obstacles(const Model& model, const SaveOptions& options) {
  return lines_of(back::find_obstacles(model, export_options(options)));
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

constinit const Format kTfliteFormat = {
    .name = "tflite",
    .title = "TFLite",
    .extensions = kExtensions,
    .operators = &kOperators,
    .runtimes = kRuntimes,
    .recognise = recognise_tflite,
    .describe = describe_tflite,
    .load = load_tflite,
    .import_options = {Option::signature, Option::inputs, Option::outputs, Option::functions, Option::map_ops,
                       Option::keep_nhwc, Option::dequantize, Option::allow_custom, Option::inputs_as,
                       Option::outputs_as},
    .save = save_tflite,
    .export_options = {Option::auto_cast, Option::weights, Option::native_lstm, Option::allow_custom, Option::inputs_as,
                       Option::outputs_as},
    .why_not_verified = why_not_verified,
    .is_one_file = true,
};

}  // namespace ingot::driver::rows
