// TypeProto.
#include "ingot/onnx/fields.h"
#include "ingot/onnx/write_graph.h"

namespace ingot::onnx {
namespace {

std::string_view nth(const std::vector<std::string>& list, std::size_t i) {
  return i < list.size() ? std::string_view(list[i]) : std::string_view();
}

void write_shape(protobuf::Writer& w, const Shape& shape, const TypeNotes& notes) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    w.message(ShapeField::dim, [&] {
      if (shape[i].is_known())
        w.int64(DimensionField::dim_value, shape[i].value());
      else if (shape[i].is_symbolic())
        w.string(DimensionField::dim_param, shape[i].str());
      write_text(w, DimensionField::denotation, nth(notes.dim_denotations, i));
      write_unknown(w, nth(notes.dim_unknown, i));
    });
  }
  write_unknown(w, notes.shape_unknown);
}

void write_element(protobuf::Writer& w, std::uint32_t field, const Type& type) {
  if (type.element) w.message(field, [&] { write_type(w, *type.element); });
}

/// What stands inside the field that says the type's kind.
void write_content(protobuf::Writer& w, const Type& type, const TypeNotes& notes) {
  const auto elem = static_cast<std::int32_t>(type.elem);
  switch (type.kind) {
    case Type::Kind::none:
      break;
    case Type::Kind::tensor:
    case Type::Kind::sparse_tensor:
      if (elem) w.int32(TensorTypeField::elem_type, elem);
      if (type.shape) w.message(TensorTypeField::shape, [&] { write_shape(w, *type.shape, notes); });
      break;
    case Type::Kind::sequence:
    case Type::Kind::optional:
      write_element(w, ContainerTypeField::elem_type, type);
      break;
    case Type::Kind::map:
      if (elem) w.int32(MapTypeField::key_type, elem);
      write_element(w, MapTypeField::value_type, type);
      break;
    case Type::Kind::opaque:
      write_text(w, OpaqueTypeField::domain, notes.opaque_domain);
      write_text(w, OpaqueTypeField::name, notes.opaque_name);
      break;
  }
  write_unknown(w, notes.content_unknown);
}

std::uint32_t field_of(Type::Kind kind) {
  switch (kind) {
    case Type::Kind::tensor:
      return TypeField::tensor_type;
    case Type::Kind::sequence:
      return TypeField::sequence_type;
    case Type::Kind::map:
      return TypeField::map_type;
    case Type::Kind::opaque:
      return TypeField::opaque_type;
    case Type::Kind::sparse_tensor:
      return TypeField::sparse_tensor_type;
    case Type::Kind::optional:
      return TypeField::optional_type;
    case Type::Kind::none:
      break;
  }
  return 0;
}

}  // namespace

void write_type(protobuf::Writer& w, const Type& type) {
  static const TypeNotes kNone;
  const TypeNotes& notes = type.notes ? *type.notes : kNone;
  const std::uint32_t field = field_of(type.kind);
  const auto write_kind = [&] {
    if (field) w.message(field, [&] { write_content(w, type, notes); });
  };
  if (field < TypeField::denotation) write_kind();
  write_text(w, TypeField::denotation, notes.denotation);
  if (field > TypeField::denotation) write_kind();
  write_unknown(w, notes.unknown);
}

}  // namespace ingot::onnx
