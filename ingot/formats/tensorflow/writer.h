#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/base/sink.h"
#include "ingot/formats/tensorflow/saved_model.h"

namespace ingot::formats::tensorflow {

// Bytes of tensors go from where they are straight to the sink. Refused: messages of more than 2 GB, which no reader of
// TensorFlow's takes.
void write_graph(const GraphDef& graph, Sink& sink);
/// A function that is one of the signatures is described by that signature: the object has the signature's key as its
/// name among the children of another.
void write_saved_model(const SavedModel& model, Sink& sink);

/// One object of a checkpoint, in the order of the objects of the model that it belongs to.
struct CheckpointObject {
  std::vector<std::pair<std::string, std::int32_t>> children{};
  std::string full_name{}, key{};  // of a variable: its name, and under which key its value is stored
};
/// What a checkpoint holds under "_CHECKPOINTABLE_OBJECT_GRAPH".
std::string object_graph_text(const std::vector<CheckpointObject>& objects);

}  // namespace ingot::formats::tensorflow
