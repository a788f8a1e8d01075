// ONNX in its textual syntax.
#include <algorithm>
#include <cctype>

#include "ingot/base/atomic_file.h"
#include "ingot/driver/formats/onnx.h"
#include "ingot/driver/formats/rows.h"
#include "ingot/onnx/text.h"

namespace ingot::driver::rows {
namespace {

/// A model in the textual syntax begins, after blanks and comments, with its header in angle brackets.
Certainty recognise_text(const Source& source) {
  if (source.is_directory) return Certainty::no;
  std::string_view text = source.contents.text().substr(0, 65536);
  while (!text.empty()) {
    if (text.front() == '#' || text.starts_with("//")) {
      text.remove_prefix(std::min(text.size(), text.find('\n')));
    } else if (std::isspace(static_cast<unsigned char>(text.front()))) {
      text.remove_prefix(1);
    } else {
      break;
    }
  }
  const std::string_view start = text.substr(0, 64);
  const bool is_text = std::ranges::none_of(start, [](char c) { return c >= 0 && c < 9; });
  const bool is_markup = start.starts_with("<!") || start.starts_with("<?") || start.starts_with("<html");
  return start.starts_with('<') && is_text && !is_markup ? Certainty::likely : Certainty::no;
}

Imported load_text(const Source& source, const LoadOptions& options) {
  return {.model = onnx::parse_text(source.contents.text(), source.directory(), read_options(options))};
}

std::vector<std::string> save_text(const Model& model, const std::string& path, const SaveOptions&) {
  AtomicFile file(path);
  file.write(onnx::to_text(model));
  file.commit();
  return {};
}

constexpr std::string_view kExtensions[] = {".onnxtxt", ".onnxtext", ".txt"};

}  // namespace

constinit const Format kOnnxTextFormat = {
    .name = "onnxtxt",
    .title = "ONNX text",
    .extensions = kExtensions,
    .is_onnx = true,
    .operators = &kOnnxOperators,
    .runtimes = kOnnxRuntimes,
    .recognise = recognise_text,
    .load = load_text,
    .import_options = kOnnxImportOptions,
    .save = save_text,
    .export_options = kOnnxExportOptions,
    .is_one_file = true,
};

}  // namespace ingot::driver::rows
