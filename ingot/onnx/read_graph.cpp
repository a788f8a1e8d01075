// GraphProto, NodeProto and FunctionProto.
#include "ingot/onnx/read_graph.h"

#include <fmt/format.h>

#include "ingot/base/error.h"
#include "ingot/onnx/fields.h"
#include "ingot/onnx/read_tensor.h"
#include "ingot/onnx/read_type.h"

namespace ingot::onnx {
namespace {

constexpr int kMaxGraphDepth = 64;

QuantizationAnnotation read_annotation(protobuf::Reader message) {
  QuantizationAnnotation annotation;
  while (message.next()) {
    if (message.field() == AnnotationField::tensor_name)
      annotation.tensor_name = message.string();
    else if (message.field() == AnnotationField::quant_parameter_tensor_names)
      read_entry(message, annotation.parameters, annotation.unknown);
    else
      keep(message, annotation.unknown);
  }
  return annotation;
}

/// The name and the operator of a node that could not be read, as far as they can be found.
std::pair<std::string, std::string> name_and_operator(protobuf::Reader node) {
  std::string name, op;
  try {
    while (node.next()) {
      if (node.field() == NodeField::name) name = node.string();
      if (node.field() == NodeField::op_type) op = node.string();
    }
  } catch (const Error&) {
    // The damage lies before them: the byte offset must do.
  }
  return {name, op};
}

}  // namespace

OpsetImport read_opset_import(protobuf::Reader message) {
  OpsetImport import;
  while (message.next()) {
    if (message.field() == OpsetField::domain)
      import.domain = message.string();
    else if (message.field() == OpsetField::version)
      import.version = message.int64();
    else
      keep(message, import.unknown);
  }
  return import;
}

void GraphReader::read(Graph& graph, std::vector<protobuf::Reader> parts) {
  pending_.push_back({&graph, std::move(parts), 1});
  read_nested();
}

void GraphReader::read_nested() {
  while (!pending_.empty()) {
    const Pending next = std::move(pending_.front());
    pending_.pop_front();
    depth_ = next.depth;
    read_one(next);
  }
}

GraphPtr GraphReader::nested(Graph* parent, std::vector<protobuf::Reader> parts) {
  if (depth_ >= kMaxGraphDepth)
    throw Error(Code::too_deep, fmt::format("graphs are nested deeper than {}", kMaxGraphDepth));
  auto graph = std::make_unique<Graph>(parent);
  pending_.push_back({graph.get(), std::move(parts), depth_ + 1});
  return graph;
}

void GraphReader::read_one(const Pending& pending) {
  Graph& graph = *pending.graph;
  GraphAssembly assembly(graph);
  // Inputs first, since an initializer may be an input's default; then initializers, then nodes.
  for (protobuf::Reader part : pending.parts)
    while (part.next())
      if (part.field() == GraphField::input) assembly.add_input(read_value_info(part.message(), context_));
  read_initializers(pending.parts, graph);
  for (protobuf::Reader part : pending.parts) {
    while (part.next()) {
      switch (part.field()) {
        case GraphField::node:
          read_node(part, assembly);
          break;
        case GraphField::name:
          graph.name = part.string();
          break;
        case GraphField::doc_string:
          graph.doc_string = part.string();
          break;
        case GraphField::output:
          assembly.add_output(read_value_info(part.message(), context_));
          break;
        case GraphField::value_info:
          assembly.add_info(read_value_info(part.message(), context_));
          break;
        case GraphField::quantization_annotation:
          graph.quantization.push_back(read_annotation(part.message()));
          break;
        case GraphField::metadata_props:
          read_entry(part, graph.metadata, graph.unknown);
          break;
        case GraphField::input:
        case GraphField::initializer:
        case GraphField::sparse_initializer:
          break;
        default:
          keep(part, graph.unknown);
      }
    }
  }
  assembly.connect();
}

void GraphReader::read_initializers(const std::vector<protobuf::Reader>& parts, Graph& graph) {
  for (protobuf::Reader part : parts) {
    while (part.next()) {
      if (part.field() != GraphField::initializer) continue;
      TensorFields fields;
      fields.read(part.message());
      std::string name;
      Tensor tensor = fields.finish(context_, &name);
      if (!tensor)
        throw Error(Code::bad_element_type,
                    fmt::format("initializer '{}' at byte {} has no element type", name, part.offset()));
      graph.add_initializer(std::move(name), std::move(tensor));
    }
  }
  for (protobuf::Reader part : parts) {
    while (part.next()) {
      if (part.field() != GraphField::sparse_initializer) continue;
      SparseTensorFields fields;
      fields.read(part.message());
      std::string name;
      SparseTensor sparse = fields.finish(context_, &name);
      graph.add_sparse_initializer(std::move(name), std::move(sparse));
    }
  }
}

void GraphReader::read_node(const protobuf::Reader& field, GraphAssembly& assembly) {
  context_.count_node();
  Node* node = assembly.graph().add_node({});
  try {
    read_node_fields(field.message(), *node, assembly);
  } catch (Error& error) {
    const auto [name, op] = name_and_operator(field.message());
    if (!name.empty() || !op.empty()) error.in_node(name, op, name.empty() ? "a node without a name" : "");
    throw;
  }
}

void GraphReader::read_node_fields(protobuf::Reader message, Node& node, GraphAssembly& assembly) {
  while (message.next()) {
    switch (message.field()) {
      case NodeField::input:
        assembly.add_input_name(&node, message.string());
        break;
      case NodeField::output:
        node.add_output(message.string());
        break;
      case NodeField::name:
        node.name = message.string();
        break;
      case NodeField::op_type:
        node.op = message.string();
        break;
      case NodeField::attribute:
        node.attributes.append(read_attribute(message.message(), &assembly.graph()));
        break;
      case NodeField::doc_string:
        node.doc_string = message.string();
        break;
      case NodeField::domain:
        node.domain = normal_domain(message.text());
        break;
      case NodeField::overload:
        node.overload = message.string();
        break;
      case NodeField::metadata_props:
        read_entry(message, node.metadata, node.unknown);
        break;
      case NodeField::device_configurations:
        (void)message.message();
        keep(message, node.device_configurations);
        break;
      default:
        keep(message, node.unknown);
    }
  }
}

void GraphReader::read_function(Function& function, protobuf::Reader message) {
  GraphAssembly assembly(*function.body, GraphAssembly::Kind::function);
  depth_ = 1;
  for (protobuf::Reader first = message; first.next();) {
    if (first.field() != FunctionField::input) continue;
    context_.count_object();
    ValueInfo input;
    input.name = first.string();
    assembly.add_input(std::move(input), false);
  }
  while (message.next()) {
    switch (message.field()) {
      case FunctionField::name:
        function.name = message.string();
        break;
      case FunctionField::input:
        break;
      case FunctionField::output: {
        ValueInfo output;
        output.name = message.string();
        assembly.add_output(std::move(output), false);
        break;
      }
      case FunctionField::attribute:
        function.attributes.push_back(message.string());
        break;
      case FunctionField::node:
        read_node(message, assembly);
        break;
      case FunctionField::doc_string:
        function.doc_string = message.string();
        break;
      case FunctionField::opset_import:
        function.opsets.push_back(read_opset_import(message.message()));
        break;
      case FunctionField::domain:
        function.domain = message.string();
        break;
      case FunctionField::attribute_proto:
        function.attribute_defaults.push_back(read_attribute(message.message(), nullptr));
        break;
      case FunctionField::value_info:
        assembly.add_info(read_value_info(message.message(), context_));
        break;
      case FunctionField::overload:
        function.overload = message.string();
        break;
      case FunctionField::metadata_props:
        read_entry(message, function.metadata, function.unknown);
        break;
      default:
        keep(message, function.unknown);
    }
  }
  assembly.connect();
  read_nested();
}

}  // namespace ingot::onnx
