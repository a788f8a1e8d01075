// Which formats there are, and how a file tells its own.
#include "ingot/driver/format.h"

#include <algorithm>
#include <cctype>

#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/formats/tfjs/graph_model.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/onnx/reader.h"

namespace ingot::driver {
namespace {

/// A model in the textual syntax begins, after blanks and comments, with its header in angle brackets.
bool looks_like_text(const Bytes& contents) {
  std::string_view text = contents.text().substr(0, 65536);
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
  return start.starts_with('<') && std::ranges::none_of(start, [](char c) { return c >= 0 && c < 9; });
}

}  // namespace

const std::vector<FormatInfo>& all_formats() {
  static const std::vector<FormatInfo> formats = {
      {Format::onnx, "onnx", "ONNX", {".onnx"}, true, true},
      {Format::onnx_text, "onnxtxt", "ONNX text", {".onnxtxt", ".onnxtext", ".txt"}, true, true},
      {Format::tflite, "tflite", "TFLite", {".tflite"}, true, true},
      {Format::tensorflow, "tensorflow", "TensorFlow graph", {".pb", ".pbtxt", ".meta"}, true, false},
      {Format::saved_model, "savedmodel", "TensorFlow SavedModel", {}, true, false},
      {Format::tfjs, "tfjs", "TensorFlow.js graph-model", {}, true, false},
      {Format::json, "json", "JSON description", {".json"}, false, true},
  };
  return formats;
}

const FormatInfo& info_of(Format format) { return *std::ranges::find(all_formats(), format, &FormatInfo::format); }

Format format_by_name(std::string_view name) {
  std::string known;
  for (const FormatInfo& info : all_formats()) {
    if (info.name == name) return info.format;
    known += (known.empty() ? "" : ", ") + std::string(info.name);
  }
  throw Error(Code::bad_usage, "there is no format '" + std::string(name) + "'").hint("known formats: " + known);
}

std::optional<Format> format_by_extension(std::string_view path) {
  const auto lower = [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); };
  for (const FormatInfo& info : all_formats())
    for (const std::string_view extension : info.extensions)
      if (path.size() >= extension.size() &&
          std::ranges::equal(path.substr(path.size() - extension.size()), extension, {}, lower))
        return info.format;
  return std::nullopt;
}

Format recognise(std::string_view path, const Bytes& contents) {
  if (formats::tflite::looks_like_tflite(contents)) return Format::tflite;
  if (const auto kind = formats::tensorflow::kind_of(contents)) {
    using formats::tensorflow::FileKind;
    return *kind == FileKind::saved_model ? Format::saved_model : Format::tensorflow;
  }
  if (formats::tfjs::looks_like_graph_model(contents) || formats::tfjs::looks_like_layers_model(contents))
    return Format::tfjs;
  if (looks_like_text(contents)) return Format::onnx_text;
  if (const auto kind = formats::tensorflow::kind_of_text(contents.text().substr(0, 4096))) {
    using formats::tensorflow::FileKind;
    return *kind == FileKind::saved_model ? Format::saved_model : Format::tensorflow;
  }
  if (onnx::looks_like_onnx(contents)) return Format::onnx;
  const auto named = format_by_extension(path);
  if (named && info_of(*named).reads) return *named;
  throw Error(Code::unknown_format, "the format of this file is not recognised")
      .in_file(std::string(path))
      .hint("name it with --from");
}

}  // namespace ingot::driver
