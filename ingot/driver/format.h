#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/bytes.h"

namespace ingot::driver {

/// The file formats that Ingot reads or writes.
enum class Format { onnx, onnx_text, json, tflite, tensorflow, saved_model, tfjs };

struct FormatInfo {
  Format format;
  std::string_view name;                     // as in --from and --to
  std::string_view title;                    // for people
  std::vector<std::string_view> extensions;  // with the dot
  bool reads, writes;
};

const std::vector<FormatInfo>& all_formats();
const FormatInfo& info_of(Format format);
/// By the name of --from and --to; refuses unknown ones with the list of those known.
Format format_by_name(std::string_view name);
/// By the file's extension; nothing if it says nothing.
std::optional<Format> format_by_extension(std::string_view path);
/// By the file's contents, and by its name where those leave it open; refuses what it does not recognise.
Format recognise(std::string_view path, const Bytes& contents);

}  // namespace ingot::driver
