// TypeProto and ValueInfoProto.
#include "ingot/onnx/read_type.h"

#include <fmt/format.h>

#include "ingot/base/error.h"
#include "ingot/onnx/fields.h"

namespace ingot::onnx {
namespace {

constexpr std::size_t kMaxRank = 1024;

void read_dim(protobuf::Reader message, Shape& shape, TypeNotes& notes) {
  if (shape.size() == kMaxRank)
    throw Error(Code::bad_shape, fmt::format("a rank beyond {} at byte {}", kMaxRank, message.offset()));
  Dim dim;
  std::string denotation, unknown;
  while (message.next()) {
    switch (message.field()) {
      case DimensionField::dim_value:
        dim = message.int64();
        break;
      case DimensionField::dim_param:
        dim = Dim::symbol(message.string());
        break;
      case DimensionField::denotation:
        denotation = message.string();
        break;
      default:
        keep(message, unknown);
    }
  }
  shape.push_back(std::move(dim));
  const auto note = [&](std::vector<std::string>& list, std::string text) {
    if (list.empty() && text.empty()) return;
    list.resize(shape.size());
    list.back() = std::move(text);
  };
  note(notes.dim_denotations, std::move(denotation));
  note(notes.dim_unknown, std::move(unknown));
}

void read_tensor_type(protobuf::Reader message, Type& type, TypeNotes& notes) {
  while (message.next()) {
    switch (message.field()) {
      case TensorTypeField::elem_type:
        type.elem = read_dtype(message);
        break;
      case TensorTypeField::shape: {
        if (!type.shape) type.shape.emplace();
        protobuf::Reader shape = message.message();
        while (shape.next()) {
          if (shape.field() == ShapeField::dim)
            read_dim(shape.message(), *type.shape, notes);
          else
            keep(shape, notes.shape_unknown);
        }
        break;
      }
      default:
        keep(message, notes.content_unknown);
    }
  }
}

void merge_element(protobuf::Reader message, Type& type) {
  Type element = type.inner();
  read_type(std::move(message), element);
  type.element = std::make_shared<const Type>(std::move(element));
}

void read_container_type(protobuf::Reader message, Type& type, TypeNotes& notes) {
  while (message.next()) {
    if (message.field() == ContainerTypeField::elem_type)
      merge_element(message.message(), type);
    else
      keep(message, notes.content_unknown);
  }
}

void read_map_type(protobuf::Reader message, Type& type, TypeNotes& notes) {
  while (message.next()) {
    if (message.field() == MapTypeField::key_type)
      type.elem = read_dtype(message);
    else if (message.field() == MapTypeField::value_type)
      merge_element(message.message(), type);
    else
      keep(message, notes.content_unknown);
  }
}

void read_opaque_type(protobuf::Reader message, TypeNotes& notes) {
  while (message.next()) {
    if (message.field() == OpaqueTypeField::domain)
      notes.opaque_domain = message.string();
    else if (message.field() == OpaqueTypeField::name)
      notes.opaque_name = message.string();
    else
      keep(message, notes.content_unknown);
  }
}

/// A type has one kind: another one replaces what was read before, the same one merges.
void become(Type::Kind kind, Type& type, TypeNotes& notes) {
  if (type.kind == kind) return;
  type = Type();
  type.kind = kind;
  TypeNotes kept;
  kept.denotation = std::move(notes.denotation);
  kept.unknown = std::move(notes.unknown);
  notes = std::move(kept);
}

/// Old exporters write -1 for sizes that are not known; returns whether there were any.
bool forget_negative_sizes(Type& type) {
  bool found = false;
  if (type.shape)
    for (Dim& d : *type.shape) {
      if (!d.is_known() || d.value() >= 0) continue;
      d = Dim();
      found = true;
    }
  if (!type.element) return found;
  Type element = *type.element;
  if (!forget_negative_sizes(element)) return found;
  type.element = std::make_shared<const Type>(std::move(element));
  return true;
}

}  // namespace

void read_type(protobuf::Reader part, Type& type) {
  TypeNotes notes = type.notes ? *type.notes : TypeNotes();
  while (part.next()) {
    switch (part.field()) {
      case TypeField::tensor_type:
        become(Type::Kind::tensor, type, notes);
        read_tensor_type(part.message(), type, notes);
        break;
      case TypeField::sparse_tensor_type:
        become(Type::Kind::sparse_tensor, type, notes);
        read_tensor_type(part.message(), type, notes);
        break;
      case TypeField::sequence_type:
        become(Type::Kind::sequence, type, notes);
        read_container_type(part.message(), type, notes);
        break;
      case TypeField::optional_type:
        become(Type::Kind::optional, type, notes);
        read_container_type(part.message(), type, notes);
        break;
      case TypeField::map_type:
        become(Type::Kind::map, type, notes);
        read_map_type(part.message(), type, notes);
        break;
      case TypeField::opaque_type:
        become(Type::Kind::opaque, type, notes);
        read_opaque_type(part.message(), notes);
        break;
      case TypeField::denotation:
        notes.denotation = part.string();
        break;
      default:
        keep(part, notes.unknown);
    }
  }
  if (type.shape && !notes.dim_denotations.empty()) notes.dim_denotations.resize(type.shape->size());
  if (type.shape && !notes.dim_unknown.empty()) notes.dim_unknown.resize(type.shape->size());
  type.notes = notes == TypeNotes() ? nullptr : std::make_shared<const TypeNotes>(std::move(notes));
}

ValueInfo read_value_info(protobuf::Reader message, ReadContext& context) {
  context.count_object();
  ValueInfo info;
  while (message.next()) {
    switch (message.field()) {
      case ValueInfoField::name:
        info.name = message.string();
        break;
      case ValueInfoField::type:
        read_type(message.message(), info.type);
        break;
      case ValueInfoField::doc_string:
        info.doc_string = message.string();
        break;
      case ValueInfoField::metadata_props:
        read_entry(message, info.metadata, info.unknown);
        break;
      default:
        keep(message, info.unknown);
    }
  }
  if (forget_negative_sizes(info.type)) context.note_negative_size(info.name);
  return info;
}

}  // namespace ingot::onnx
