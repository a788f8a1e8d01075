#pragma once
#include <string>
#include <string_view>

namespace ingot::formats::tflite {

struct Model;

/// The metadata in which Ingot's own files say what they were made from: lines of "key: value".
inline constexpr std::string_view kSourceNote = "ingot_source";
/// The value of inputs_as and outputs_as where channels were moved to the end.
inline constexpr std::string_view kChannelsLastNote = "nhwc";

/// The value of a key; empty if the file does not say.
std::string source_note(const Model& model, std::string_view key);

}  // namespace ingot::formats::tflite
