#pragma once
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "ingot/ir/model.h"
#include "ingot/onnx/reader.h"

namespace ingot {
class Sink;
}

// The textual syntax of ONNX (.onnxtxt), with words of our own where upstream has none; docs/text.md is the grammar.
namespace ingot::onnx {

struct TextOptions {
  /// Tensors with more elements are cut off after so many: for people to read, not to be parsed again.
  std::size_t max_elements = std::numeric_limits<std::size_t>::max();
  /// Tensors with more elements are printed as hexadecimal bytes, which is shorter and faster to read.
  std::size_t max_listed = 256;
  /// Elements of the floats below 32 bits as numbers and not, as upstream has it, as bit patterns.
  bool small_floats_as_numbers = false;

  /// The short form: `elements` of each tensor, as numbers.
  static TextOptions for_people(std::size_t elements = 8) { return {elements, elements, true}; }
};

/// By default the complete form: parsing it gives a model that is written as the same bytes.
std::string to_text(const Model& model, const TextOptions& options = {});
std::string to_text(const Graph& graph, const TextOptions& options = {});
void write_text(const Model& model, Sink& sink, const TextOptions& options = {});

/// Parses a model. Errors name line and column. `directory`: where external data is looked for; empty: it is refused.
Model parse_text(std::string_view text, const std::string& directory = {}, const ReadOptions& options = {});
/// The same from a file.
Model read_text(const std::string& path, const ReadOptions& options = {});

}  // namespace ingot::onnx
