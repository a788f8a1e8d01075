// Any file in, any file out.
#include "ingot/driver/load.h"

#include <filesystem>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/load_tensorflow.h"
#include "ingot/driver/own_functions.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/frontends/tflite/import.h"
#include "ingot/onnx/json.h"
#include "ingot/onnx/reader.h"
#include "ingot/onnx/text.h"
#include "ingot/onnx/writer.h"

namespace ingot::driver {
namespace {

std::string directory_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

void write_text(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

Loaded load_tflite(const Bytes& contents, const LoadOptions& options) {
  const formats::tflite::Model source = formats::tflite::read(contents, {.budget = options.budget});
  frontends::tflite::ImportOptions import;
  import.dequantize = options.import.dequantize;
  import.signature = options.import.signature;
  import.inputs = options.import.inputs;
  import.outputs = options.import.outputs;
  import.input_shapes = options.import.input_shapes;
  import.allow_custom = options.import.allow_custom;
  OwnFunctions functions(options);
  functions.allow(import.allow_custom);
  frontends::tflite::Imported imported = frontends::tflite::import_model(source, import);
  settle_layout(imported.model, options.import.layout, imported.notes);
  functions.add_to(imported.model);
  return {std::move(imported.model), Format::tflite, std::move(imported.notes)};
}

}  // namespace

bool is_onnx(Format format) { return format == Format::onnx || format == Format::onnx_text || format == Format::json; }

Loaded load(const std::string& path, const LoadOptions& options) try {
  if (std::filesystem::is_directory(path)) return load_tensorflow_directory(path, options);
  const Bytes contents = map_file(path);
  const Format format = options.from ? *options.from : recognise(path, contents);
  std::vector<std::string> notes;
  const onnx::ReadOptions read_options{.allow_links = options.allow_links, .budget = options.budget, .notes = &notes};
  switch (format) {
    case Format::onnx: {
      Model model = onnx::read(contents, directory_of(path), read_options);
      return {std::move(model), format, std::move(notes)};
    }
    case Format::onnx_text:
      return {onnx::parse_text(contents.text(), directory_of(path), read_options), format, {}};
    case Format::tflite:
      return load_tflite(contents, options);
    case Format::tensorflow:
    case Format::saved_model:
    case Format::tfjs:
      return load_tensorflow(path, contents, format, options);
    default:
      break;
  }
  throw Error(Code::bad_usage, std::string(info_of(format).title) + " files cannot be read");
} catch (Error& error) {
  error.in_file(path);
  throw;
}

void save(const Model& model, const std::string& path, const SaveOptions& options) try {
  const auto format = options.to ? options.to : format_by_extension(path);
  if (!format)
    throw Error(Code::bad_usage, "the extension of the output does not name a format").hint("name it with --to");
  switch (*format) {
    case Format::onnx:
      onnx::write(model, path,
                  {.external_data = options.external_data, .external_threshold = options.external_threshold});
      return;
    case Format::onnx_text:
      return write_text(path, onnx::to_text(model));
    case Format::json:
      return write_text(path, onnx::to_json(model));
    default:
      break;
  }
  throw Error(Code::bad_usage, std::string(info_of(*format).title) + " files cannot be written");
} catch (Error& error) {
  error.in_file(path);
  throw;
}

}  // namespace ingot::driver
