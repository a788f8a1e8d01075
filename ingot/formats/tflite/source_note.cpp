// What Ingot's own TFLite files say of their source.
#include "ingot/formats/tflite/source_note.h"

#include "ingot/formats/tflite/model.h"

namespace ingot::formats::tflite {

std::string source_note(const Model& model, std::string_view key) {
  for (const Metadata& m : model.metadata) {
    if (m.name != kSourceNote || m.buffer >= model.buffers.size()) continue;
    const std::string_view text = model.buffers[m.buffer].text();
    const std::size_t at = text.find(std::string(key) + ": ");
    if (at == std::string_view::npos) continue;
    const std::size_t begin = at + key.size() + 2;
    return std::string(text.substr(begin, text.find('\n', begin) - begin));
  }
  return {};
}

}  // namespace ingot::formats::tflite
