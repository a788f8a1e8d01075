#pragma once
#include "ingot/ir/graph.h"
#include "ingot/onnx/read_context.h"

namespace ingot::onnx {

/// Merges a TypeProto into `type`.
void read_type(protobuf::Reader part, Type& type);

ValueInfo read_value_info(protobuf::Reader message, ReadContext& context);

}  // namespace ingot::onnx
