// Any file in, any file out.
#include "ingot/driver/load.h"

#include <filesystem>
#include <utility>

#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/check.h"
#include "ingot/driver/finish_import.h"
#include "ingot/driver/import_layout.h"
#include "ingot/driver/operator_map.h"
#include "ingot/driver/own_functions.h"
#include "ingot/driver/plugin.h"
#include "ingot/driver/run.h"
#include "ingot/passes/extract.h"
#include "ingot/passes/infer.h"

namespace ingot::driver {
namespace {

/// ONNX stays as it is, but for what was asked.
void finish_onnx(Imported& imported, const ImportOptions& options) {
  passes::extract(imported.model, options.inputs, options.outputs);
  set_input_shapes(imported.model, options.input_shapes);
  wish_layout(imported.model, options.layout, imported.notes);
}

/// Types are found again: the new names may be of operators that Ingot knows.
void rename_operators(Imported& imported, const OperatorMap& map) {
  const auto notes = map.apply(imported.model);
  if (notes.empty()) return;
  imported.notes.insert(imported.notes.end(), notes.begin(), notes.end());
  if (!imported.model.opsets.version("")) return;
  passes::InferOptions tolerant;
  tolerant.tolerate_errors = true;
  passes::infer(imported.model, tolerant);
}

Imported import_foreign(const Source& source, const Format& format, const LoadOptions& options) {
  OwnFunctions functions(options);
  LoadOptions with_custom = options;
  functions.allow(with_custom.import.allow_custom);
  const OperatorMap map(options.import.map_ops, options.budget);
  map.allow(with_custom.import.allow_custom);
  Imported imported = format.load(source, with_custom);
  rename_operators(imported, map);
  finish_import(imported, options.import, functions);
  return imported;
}

/// Whether a shape may be meant for another, but for the batch; `moved`: with its channels behind the batch.
bool fits(const Shape& wanted, const Shape& own, bool moved) {
  if (wanted.size() != own.size()) return false;
  for (std::size_t i = 1; i < own.size(); ++i) {
    const Dim& size = !moved ? own[i] : i == 1 ? own.back() : own[i - 1];
    if (!wanted[i].is_unknown() && !may_equal(wanted[i], size)) return false;
  }
  return true;
}

/// Sizes may be others than those of the source, but not in another layout: refuses shapes that fit with their channels
/// moved, and, where an import failed, all that do not fit.
void check_shapes(const Source& source, const Format& format, LoadOptions options, bool has_failed) {
  if (format.leaves_inputs_open) return;
  const InputShapes wanted = std::exchange(options.import.input_shapes, {});
  if (wanted.empty()) return;
  options.import.layout = {};
  Imported plain;
  try {
    plain = import_foreign(source, format, options);
  } catch (const Error& error) {
    if (error.exit_code() == 5) throw;
    return;  // it fails for other reasons
  }
  for (const auto& [name, shape] : wanted) {
    const Value* input = plain.model.graph->find(name);
    if (!input || !input->type.shape || fits(shape, *input->type.shape, false)) continue;
    if (!has_failed && !fits(shape, *input->type.shape, true)) continue;
    throw Error(Code::bad_usage, "input '" + name + "' is " + input->type.str() + " in the source, which " +
                                     Type::tensor(input->type.elem, shape).str() + " does not fit")
        .hint("shapes are in the source's layout; 'convert --inputs-as' changes it afterwards");
  }
}

}  // namespace

OptionSet given(const ImportOptions& options) {
  OptionSet set;
  set.add(Option::signature, !options.signature.empty());
  set.add(Option::tag, !options.tag.empty());
  set.add(Option::inputs, !options.inputs.empty());
  set.add(Option::outputs, !options.outputs.empty());
  set.add(Option::functions, !options.functions.empty());
  set.add(Option::map_ops, !options.map_ops.empty());
  set.add(Option::mode, options.mode.has_value());
  set.add(Option::keep_functions, options.keep_functions);
  set.add(Option::strings, !options.strings.empty());
  set.add(Option::keep_nhwc, options.keep_nhwc);
  set.add(Option::dequantize, options.dequantize);
  set.add(Option::weights_from, !options.weights_from.empty());
  set.add(Option::keep_state, options.keep_state);
  set.add(Option::loss, !options.loss.empty());
  set.add(Option::optimizer, !options.optimizer.empty());
  set.add(Option::optimizer_state, !options.optimizer_state.empty());
  set.add(Option::precision, options.precision.has_value());
  set.add(Option::raw_scores, options.raw_scores);
  set.add(Option::zipmap, options.zipmap);
  set.add(Option::decision_path, options.decision_path);
  set.add(Option::input_types, !options.input_types.empty());
  set.add(Option::input_values, !options.input_values.empty());
  set.add(Option::data, !options.data.empty());
  set.add(Option::schema, !options.schema.empty());
  set.add(Option::allow_custom, !options.allow_custom.empty());
  set.add(Option::inputs_as, options.layout.inputs_as.has_value());
  set.add(Option::outputs_as, options.layout.outputs_as.has_value());
  return set;
}

OptionSet given(const SaveOptions& options) {
  OptionSet set;
  set.add(Option::external_data, options.external_data);
  set.add(Option::external_threshold, options.external_threshold.has_value());
  set.add(Option::auto_cast, options.auto_cast.has_value());
  set.add(Option::weights, options.weights.has_value());
  set.add(Option::native_lstm, options.native_lstm);
  set.add(Option::quantize, options.quantize.has_value());
  set.add(Option::variables, options.variables);
  set.add(Option::sequences, options.sequences.has_value());
  set.add(Option::allow_custom, !options.allow_custom.empty());
  set.add(Option::inputs_as, options.layout.inputs_as.has_value());
  set.add(Option::outputs_as, options.layout.outputs_as.has_value());
  return set;
}

Loaded load(const std::string& path, const LoadOptions& options) try {
  const Source source = open_source(path);
  return load(source, format_to_read(source, options.from), options);
} catch (Error& error) {
  error.in_file(path);
  throw;
}

Loaded load(const Source& source, const Format& format, const LoadOptions& options) try {
  if (!format.load)
    throw Error(Code::bad_usage, std::string(format.title) + " files cannot be read")
        .hint("formats that can: " + format_names(is_readable));
  require_taken(given(options.import), &format, nullptr);
  const BudgetScope scope(options.budget);
  Imported imported;
  if (format.is_onnx) {
    imported = format.load(source, options);
    rename_operators(imported, OperatorMap(options.import.map_ops, options.budget));
    OwnFunctions(options).add_to(imported.model);
    add_plugin_functions(imported.model);
    if (options.requires_valid) require_valid(imported.model, options.budget);
    finish_onnx(imported, options.import);
  } else {
    if (options.import.layout.inputs_as) check_shapes(source, format, options, false);
    try {
      imported = import_foreign(source, format, options);
    } catch (const Error&) {
      check_shapes(source, format, options, true);
      throw;
    }
    add_plugin_functions(imported.model);
    const Made made{.is_imported = true, .has_given_shapes = !options.import.input_shapes.empty()};
    if (options.requires_valid) require_sound(imported.model, made, options.budget);
  }
  return {std::move(imported.model), imported.format ? imported.format : &format, std::move(imported.notes),
          imported.written_as};
} catch (Error& error) {
  error.in_file(source.path);
  throw;
}

std::optional<FileContents> describe(const std::string& path, const LoadOptions& options) try {
  const Source source = open_source(path);
  const Format& format = format_to_read(source, options.from);
  if (!format.describe) return std::nullopt;
  return format.describe(source, options);
} catch (Error& error) {
  error.in_file(path);
  throw;
}

Loaded load_memory(const Bytes& contents, const LoadOptions& options) {
  const Source source{.path = {}, .contents = contents};
  const Format& format = format_to_read(source, options.from);
  if (!is_readable_in_memory(format))
    throw Error(Code::bad_usage, std::string(format.title) + " files are not read from memory")
        .hint("formats that are: " + format_names(is_readable_in_memory));
  return load(source, format, options);
}

const Format& format_to_write(const std::string& path, const Format* to) {
  const Format* format = to ? to : format_by_extension(path);
  if (!format)
    throw Error(Code::bad_usage, "the extension of the output does not name a format")
        .in_file(path)
        .hint("name it with --to: " + format_names(is_writable));
  if (!format->save)
    throw Error(Code::bad_usage, std::string(format->title) + " files cannot be written")
        .in_file(path)
        .hint("formats that can: " + format_names(is_writable));
  return *format;
}

void refuse_overwriting(const std::string& input, const std::string& output) {
  std::error_code absent;
  bool is_same = std::filesystem::equivalent(input, output, absent);
  if (std::filesystem::is_directory(input, absent))
    for (std::filesystem::path p = std::filesystem::weakly_canonical(output, absent).parent_path();
         p != p.parent_path() && !is_same; p = p.parent_path())
      is_same = std::filesystem::equivalent(input, p, absent);
  if (is_same)
    throw Error(Code::output_is_input, "the output would overwrite the input")
        .in_file(output)
        .hint("name another file, and move it over the first when all is well");
}

std::vector<std::string> write(const Format& format, const Model& model, const std::string& path,
                               const SaveOptions& options) try {
  // Derivatives that the model asks for are operators like others elsewhere.
  const std::optional<Model> form = format.is_onnx ? std::nullopt : runnable_form(model);
  return format.save(form ? *form : model, path, options);
} catch (const Error& error) {
  // What fails inside is a bug of Ingot only if the model was sound.
  if (error.exit_code() == 70) require_valid(model);
  throw;
}

std::vector<std::string> save(const Model& model, const std::string& path, const SaveOptions& options) try {
  const Format& format = format_to_write(path, options.to);
  require_taken(given(options), nullptr, &format);
  return write(format, model, path, options);
} catch (Error& error) {
  error.in_file(path);
  throw;
}

}  // namespace ingot::driver
