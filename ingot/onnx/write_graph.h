#pragma once
#include "ingot/ir/model.h"
#include "ingot/onnx/write_tensor.h"

namespace ingot::onnx {

/// The fields of a TypeProto.
void write_type(protobuf::Writer& w, const Type& type);
/// The fields of a GraphProto, nested graphs included.
void write_graph(protobuf::Writer& w, const Graph& graph, const ExternalLayout* layout);
void write_function(protobuf::Writer& w, const Function& function);
void write_opset_imports(protobuf::Writer& w, std::uint32_t field, const OpsetImports& imports);

}  // namespace ingot::onnx
