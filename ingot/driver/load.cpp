// Any file in, any file out.
#include "ingot/driver/load.h"

#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/finish_import.h"
#include "ingot/driver/import_layout.h"
#include "ingot/driver/own_functions.h"
#include "ingot/passes/extract.h"

namespace ingot::driver {
namespace {

/// ONNX stays as it is, but for what was asked.
void finish_onnx(Imported& imported, const ImportOptions& options) {
  passes::extract(imported.model, options.inputs, options.outputs);
  wish_layout(imported.model, options.layout, imported.notes);
  set_input_shapes(imported.model, options.input_shapes);
}

}  // namespace

OptionSet given(const ImportOptions& options) {
  OptionSet set;
  set.add(Option::signature, !options.signature.empty());
  set.add(Option::tag, !options.tag.empty());
  set.add(Option::inputs, !options.inputs.empty());
  set.add(Option::outputs, !options.outputs.empty());
  set.add(Option::functions, !options.functions.empty());
  set.add(Option::mode, options.mode.has_value());
  set.add(Option::keep_functions, options.keep_functions);
  set.add(Option::dequantize, options.dequantize);
  set.add(Option::precision, options.precision.has_value());
  set.add(Option::raw_scores, options.raw_scores);
  set.add(Option::zipmap, options.zipmap);
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
  set.add(Option::allow_custom, !options.allow_custom.empty());
  set.add(Option::inputs_as, options.layout.inputs_as.has_value());
  set.add(Option::outputs_as, options.layout.outputs_as.has_value());
  return set;
}

Loaded load(const std::string& path, const LoadOptions& options) try {
  const Source source = open_source(path);
  return load(source, options.from ? *options.from : recognise(source), options);
} catch (Error& error) {
  error.in_file(path);
  throw;
}

Loaded load(const Source& source, const Format& format, const LoadOptions& options) try {
  if (!format.load)
    throw Error(Code::bad_usage, std::string(format.title) + " files cannot be read")
        .hint("formats that can: " + format_names(is_readable));
  require_taken(given(options.import), &format, nullptr);
  Imported imported;
  if (format.is_onnx) {
    imported = format.load(source, options);
    finish_onnx(imported, options.import);
  } else {
    OwnFunctions functions(options);
    LoadOptions with_custom = options;
    functions.allow(with_custom.import.allow_custom);
    imported = format.load(source, with_custom);
    finish_import(imported, options.import, functions);
  }
  return {std::move(imported.model), imported.format ? imported.format : &format, std::move(imported.notes)};
} catch (Error& error) {
  error.in_file(source.path);
  throw;
}

Loaded load_memory(const Bytes& contents, const LoadOptions& options) {
  const Source source{.path = {}, .contents = contents};
  const Format& format = options.from ? *options.from : recognise(source);
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

std::vector<std::string> save(const Model& model, const std::string& path, const SaveOptions& options) try {
  const Format& format = format_to_write(path, options.to);
  require_taken(given(options), nullptr, &format);
  return format.save(model, path, options);
} catch (Error& error) {
  error.in_file(path);
  throw;
}

}  // namespace ingot::driver
