#pragma once
// The writers of single messages, for the writers of whole files.
#include "ingot/formats/protobuf/wire_writer.h"
#include "ingot/formats/tensorflow/saved_model.h"

namespace ingot::formats::tensorflow {

void write_shape(protobuf::Writer& w, const TensorShape& shape);
void write_tensor(protobuf::Writer& w, const TensorProto& tensor);
void write_graph(protobuf::Writer& w, const GraphDef& graph);

/// What no reader of TensorFlow's takes is not written.
void require_readable_size(std::uint64_t bytes);

}  // namespace ingot::formats::tensorflow
