#pragma once
#include <optional>

#include "ingot/formats/tensorflow/saved_model.h"

namespace ingot {
class Budget;
}

namespace ingot::formats::tensorflow {

/// What a TensorFlow file may hold.
enum class FileKind { graph, meta_graph, saved_model };

/// By the content of a binary file; a quick look, no proof.
std::optional<FileKind> kind_of(const Bytes& file);
/// The same for a file in protobuf's text syntax.
std::optional<FileKind> kind_of_text(std::string_view text);

// Large tensors stay in `file`. The text syntax is recognised.
GraphDef read_graph(const Bytes& file, Budget& budget);
MetaGraph read_meta_graph(const Bytes& file, Budget& budget);
SavedModel read_saved_model(const Bytes& file, Budget& budget);
TensorProto read_tensor(const Bytes& message);

}  // namespace ingot::formats::tensorflow
