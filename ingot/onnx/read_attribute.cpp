// AttributeProto.
#include <fmt/format.h>

#include "ingot/base/error.h"
#include "ingot/onnx/fields.h"
#include "ingot/onnx/read_graph.h"
#include "ingot/onnx/read_tensor.h"
#include "ingot/onnx/read_type.h"

namespace ingot::onnx {
namespace {

/// The type of value that a field holds; undefined for fields that hold none.
AttrType type_of_field(std::uint32_t field) {
  switch (field) {
    case AttributeField::f:
      return AttrType::float_;
    case AttributeField::i:
      return AttrType::int_;
    case AttributeField::s:
      return AttrType::string;
    case AttributeField::t:
      return AttrType::tensor;
    case AttributeField::g:
      return AttrType::graph;
    case AttributeField::floats:
      return AttrType::floats;
    case AttributeField::ints:
      return AttrType::ints;
    case AttributeField::strings:
      return AttrType::strings;
    case AttributeField::tensors:
      return AttrType::tensors;
    case AttributeField::graphs:
      return AttrType::graphs;
    case AttributeField::tp:
      return AttrType::type_proto;
    case AttributeField::type_protos:
      return AttrType::type_protos;
    case AttributeField::sparse_tensor:
      return AttrType::sparse_tensor;
    case AttributeField::sparse_tensors:
      return AttrType::sparse_tensors;
    default:
      return AttrType::undefined;
  }
}

template <class T> T& value_as(Attribute& attribute) {
  if (!std::holds_alternative<T>(attribute.value)) attribute.value = T();
  return std::get<T>(attribute.value);
}

/// The value that a type has when no field gives one: proto3 leaves out zeros, and lists may be empty.
AttrValue default_value(AttrType type) {
  switch (type) {
    case AttrType::float_:
      return 0.0f;
    case AttrType::int_:
      return std::int64_t{0};
    case AttrType::string:
      return std::string();
    case AttrType::tensor:
      return Tensor();
    case AttrType::floats:
      return std::vector<float>();
    case AttrType::ints:
      return std::vector<std::int64_t>();
    case AttrType::strings:
      return std::vector<std::string>();
    case AttrType::tensors:
      return std::vector<Tensor>();
    case AttrType::graphs:
      return std::vector<GraphPtr>();
    case AttrType::sparse_tensor:
      return SparseTensor();
    case AttrType::sparse_tensors:
      return std::vector<SparseTensor>();
    case AttrType::type_proto:
      return Type();
    case AttrType::type_protos:
      return std::vector<Type>();
    default:
      return std::monostate();
  }
}

}  // namespace

/// What is read of an attribute so far. Single messages may come in parts.
struct GraphReader::AttributeParts {
  Attribute attribute;
  AttrType stated = AttrType::undefined, found = AttrType::undefined;
  std::vector<protobuf::Reader> graph;
  TensorFields tensor;
  SparseTensorFields sparse;
};

Attribute GraphReader::read_attribute(protobuf::Reader message, Graph* parent) {
  const std::size_t offset = message.offset();
  AttributeParts parts;
  Attribute& a = parts.attribute;
  while (message.next()) {
    const AttrType holds = type_of_field(message.field());
    if (holds != AttrType::undefined) {
      if (parts.found != AttrType::undefined && parts.found != holds)
        throw Error(Code::conflicting_data,
                    fmt::format("attribute '{}' at byte {} has values of two types", a.name, offset));
      parts.found = holds;
    }
    switch (message.field()) {
      case AttributeField::name:
        a.name = message.string();
        break;
      case AttributeField::doc_string:
        a.doc_string = message.string();
        break;
      case AttributeField::type: {
        const std::uint64_t type = message.varint();
        if (type > 255)
          throw Error(Code::bad_attribute, fmt::format("attribute type {} at byte {} does not exist", type, offset));
        parts.stated = static_cast<AttrType>(type);
        break;
      }
      case AttributeField::ref_attr_name:
        a.reference = message.string();
        break;
      default:
        if (holds == AttrType::undefined)
          keep(message, a.unknown);
        else
          read_value(message, parent, parts);
    }
  }
  if (parts.found != AttrType::undefined && parts.stated != AttrType::undefined && parts.stated != parts.found)
    throw Error(Code::conflicting_data,
                fmt::format("attribute '{}' at byte {} is of type {} but has a value of type {}", a.name, offset,
                            static_cast<int>(parts.stated), static_cast<int>(parts.found)));
  finish(parts, parent);
  return std::move(a);
}

void GraphReader::read_value(protobuf::Reader& message, Graph* parent, AttributeParts& parts) {
  Attribute& a = parts.attribute;
  switch (message.field()) {
    case AttributeField::f:
      a.value = message.fixed_float();
      break;
    case AttributeField::i:
      a.value = message.int64();
      break;
    case AttributeField::s:
      a.value = message.string();
      break;
    case AttributeField::t:
      parts.tensor.read(message.message());
      break;
    case AttributeField::g:
      parts.graph.push_back(message.message());
      break;
    case AttributeField::floats:
      message.floats(value_as<std::vector<float>>(a));
      break;
    case AttributeField::ints:
      message.ints(value_as<std::vector<std::int64_t>>(a));
      break;
    case AttributeField::strings:
      value_as<std::vector<std::string>>(a).push_back(message.string());
      break;
    case AttributeField::tensors: {
      TensorFields one;
      one.read(message.message());
      value_as<std::vector<Tensor>>(a).push_back(one.finish(context_));
      break;
    }
    case AttributeField::graphs:
      value_as<std::vector<GraphPtr>>(a).push_back(nested(parent, {message.message()}));
      break;
    case AttributeField::tp:
      read_type(message.message(), value_as<Type>(a));
      break;
    case AttributeField::type_protos:
      read_type(message.message(), value_as<std::vector<Type>>(a).emplace_back());
      break;
    case AttributeField::sparse_tensor:
      parts.sparse.read(message.message());
      break;
    case AttributeField::sparse_tensors: {
      SparseTensorFields one;
      one.read(message.message());
      value_as<std::vector<SparseTensor>>(a).push_back(one.finish(context_));
      break;
    }
    default:
      break;
  }
}

void GraphReader::finish(AttributeParts& parts, Graph* parent) {
  Attribute& a = parts.attribute;
  if (parts.found == AttrType::tensor) {
    a.value = parts.tensor.finish(context_);
  } else if (parts.found == AttrType::sparse_tensor) {
    a.value = parts.sparse.finish(context_);
  } else if (parts.found == AttrType::graph) {
    a.value = nested(parent, std::move(parts.graph));
  } else if (parts.found == AttrType::undefined && a.reference.empty() && parts.stated == AttrType::graph) {
    a.value = nested(parent, {});
  } else if (parts.found == AttrType::undefined && a.reference.empty()) {
    a.value = default_value(parts.stated);
  }
  if (std::holds_alternative<std::monostate>(a.value)) a.reference_type = parts.stated;
}

}  // namespace ingot::onnx
