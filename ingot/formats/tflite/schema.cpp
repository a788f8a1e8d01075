// What tflite.fbs says of enums and option tables, taken from its compiled form, so that no second list can drift.
#include "ingot/formats/tflite/schema.h"

#include <flatbuffers/reflection_generated.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ingot/base/error.h"
#include "tflite_bfbs_generated.h"

namespace ingot::formats::tflite {
namespace {

constexpr std::string_view kNamespace = "ingot.formats.tflite.schema.";

const reflection::Schema& compiled() { return *reflection::GetSchema(schema::ModelBinarySchema::data()); }

std::string_view view(const flatbuffers::String* text) { return {text->c_str(), text->size()}; }

std::string_view short_name(const flatbuffers::String* full) { return view(full).substr(kNamespace.size()); }

// Plain loops instead of LookupByKey: the schema is a constant, and g++ 12 takes its keys for empty strings.
const reflection::Enum* find_enum(std::string_view name) {
  for (const reflection::Enum* candidate : *compiled().enums())
    if (short_name(candidate->name()) == name) return candidate;
  return nullptr;
}

bool has_attribute(const reflection::Field& field, std::string_view name) {
  if (!field.attributes()) return false;
  for (const reflection::KeyValue* attribute : *field.attributes())
    if (view(attribute->key()) == name) return true;
  return false;
}

FieldKind kind_of(const reflection::Type& type) {
  using reflection::BaseType;
  switch (type.base_type()) {
    case BaseType::Bool:
      return FieldKind::boolean;
    case BaseType::Byte:
      return FieldKind::int8;
    case BaseType::Int:
      return FieldKind::int32;
    case BaseType::UInt:
      return FieldKind::uint32;
    case BaseType::Long:
      return FieldKind::int64;
    case BaseType::Float:
      return FieldKind::float32;
    case BaseType::String:
      return FieldKind::string;
    case BaseType::Vector:
      break;
    default:
      throw Error(Code::internal, "tflite.fbs: an option has a type that is not handled");
  }
  switch (type.element()) {
    case BaseType::Bool:
      return FieldKind::booleans;
    case BaseType::UByte:
      return FieldKind::bytes;
    case BaseType::Int:
      return FieldKind::int32s;
    case BaseType::UInt:
      return FieldKind::uint32s;
    case BaseType::Long:
      return FieldKind::int64s;
    case BaseType::Float:
      return FieldKind::float32s;
    default:
      throw Error(Code::internal, "tflite.fbs: an option is a list of a type that is not handled");
  }
}

OptionField field_of(const reflection::Field& field) {
  const reflection::Type& type = *field.type();
  const bool scalar = type.base_type() < reflection::BaseType::String;
  const bool is_enum = type.index() >= 0;
  return {
      .name = view(field.name()),
      .enum_name = is_enum ? short_name(compiled().enums()->Get(static_cast<unsigned>(type.index()))->name())
                           : std::string_view(),
      .kind = kind_of(type),
      .slot = field.offset(),
      .subgraph = has_attribute(field, "subgraph"),
      .default_integer = scalar ? field.default_integer() : 0,
      .default_real = scalar ? static_cast<float>(field.default_real()) : 0,
  };
}

std::vector<OptionTable> tables_of(std::string_view union_name, OptionUnion option_union) {
  std::vector<OptionTable> tables;
  for (const reflection::EnumVal* member : *find_enum(union_name)->values()) {
    OptionTable& table = tables.emplace_back();
    table.option_union = option_union;
    table.number = static_cast<std::uint8_t>(member->value());
    if (member->value() == 0) continue;  // NONE
    const reflection::Object* object = compiled().objects()->Get(static_cast<unsigned>(member->union_type()->index()));
    table.name = short_name(object->name());
    for (const reflection::Field* field : *object->fields()) table.fields.push_back(field_of(*field));
    std::ranges::sort(table.fields, {}, &OptionField::slot);
  }
  return tables;
}

const std::vector<OptionTable>& tables(OptionUnion option_union) {
  static const std::array<std::vector<OptionTable>, 2> kTables = {tables_of("BuiltinOptions", OptionUnion::first),
                                                                  tables_of("BuiltinOptions2", OptionUnion::second)};
  return kTables[option_union == OptionUnion::second];
}

}  // namespace

const OptionField* OptionTable::find(std::string_view field) const {
  const auto found = std::ranges::find(fields, field, &OptionField::name);
  return found == fields.end() ? nullptr : &*found;
}

const OptionTable* option_table(OptionUnion option_union, std::uint8_t number) {
  const std::vector<OptionTable>& all = tables(option_union);
  return number == 0 || number >= all.size() ? nullptr : &all[number];
}

const OptionTable* option_table(std::string_view name) {
  if (name.empty()) return nullptr;
  for (const OptionUnion option_union : {OptionUnion::first, OptionUnion::second}) {
    const std::vector<OptionTable>& all = tables(option_union);
    const auto found = std::ranges::find(all, name, &OptionTable::name);
    if (found != all.end()) return &*found;
  }
  return nullptr;
}

const OptionTable* option_table(BuiltinOperator op) {
  static const std::vector<const OptionTable*> kOfOperator = {
#define INGOT_TFLITE_OPERATOR(number, name, options) option_table(#options),
#include "ingot/formats/tflite/builtin_operators.def"
#undef INGOT_TFLITE_OPERATOR
  };
  const auto number = static_cast<std::size_t>(op);
  return number < kOfOperator.size() ? kOfOperator[number] : nullptr;
}

std::string_view enum_value_name(std::string_view enum_name, std::int64_t value) {
  const reflection::Enum* found = find_enum(enum_name);
  const reflection::EnumVal* member = found ? found->values()->LookupByKey(value) : nullptr;
  return member ? view(member->name()) : std::string_view();
}

std::optional<std::int64_t> enum_value(std::string_view enum_name, std::string_view name) {
  const reflection::Enum* found = find_enum(enum_name);
  if (!found) return std::nullopt;
  for (const reflection::EnumVal* member : *found->values())
    if (view(member->name()) == name) return member->value();
  return std::nullopt;
}

std::optional<BuiltinOperator> builtin_operator(std::string_view name) {
  const std::optional<std::int64_t> value = enum_value(kEnumName<BuiltinOperator>, name);
  return value ? std::optional(static_cast<BuiltinOperator>(*value)) : std::nullopt;
}

std::optional<TensorType> tensor_type(std::string_view name) {
  const std::optional<std::int64_t> value = enum_value(kEnumName<TensorType>, name);
  return value ? std::optional(static_cast<TensorType>(*value)) : std::nullopt;
}

std::optional<unsigned> element_bits(TensorType type) {
  switch (type) {
    case TensorType::INT2:
      return 2;
    case TensorType::INT4:
    case TensorType::UINT4:
      return 4;
    case TensorType::UINT8:
    case TensorType::INT8:
    case TensorType::BOOL:
    case TensorType::FLOAT8_E4M3FN:
    case TensorType::FLOAT8_E5M2:
      return 8;
    case TensorType::FLOAT16:
    case TensorType::BFLOAT16:
    case TensorType::INT16:
    case TensorType::UINT16:
      return 16;
    case TensorType::FLOAT32:
    case TensorType::INT32:
    case TensorType::UINT32:
      return 32;
    case TensorType::INT64:
    case TensorType::UINT64:
    case TensorType::FLOAT64:
    case TensorType::COMPLEX64:
      return 64;
    case TensorType::COMPLEX128:
      return 128;
    case TensorType::STRING:
    case TensorType::RESOURCE:
    case TensorType::VARIANT:
      break;
  }
  return std::nullopt;
}

}  // namespace ingot::formats::tflite
