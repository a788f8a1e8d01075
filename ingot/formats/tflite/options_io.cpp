// Option tables in flatbuffers, driven by the schema's description of their fields.
#include "ingot/formats/tflite/options_io.h"

#include <flatbuffers/flatbuffers.h>

#include "ingot/base/checked.h"
#include "ingot/formats/tflite/schema.h"

namespace ingot::formats::tflite {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Table;

template <class To, class From> OptionValue list(const Table& table, const OptionField& field, const Copying& copying) {
  const auto* items = table.GetPointer<const flatbuffers::Vector<From>*>(field.slot);
  if (!items) return std::monostate();
  copying(std::uint64_t{items->size()} * sizeof(To), items->Data() + items->size() * sizeof(From));
  return elements<To>(*items);
}

OptionValue text(const Table& table, const OptionField& field, const Copying& copying) {
  const auto* bytes = table.GetPointer<const flatbuffers::Vector<std::uint8_t>*>(field.slot);
  if (!bytes) return std::monostate();
  copying(bytes->size(), bytes->Data() + bytes->size());
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

template <class T> OptionValue integer(const Table& table, const OptionField& field) {
  return std::int64_t{table.GetField<T>(field.slot, static_cast<T>(field.default_integer))};
}

OptionValue read_field(const Table& table, const OptionField& field, const Copying& copying) {
  switch (field.kind) {
    case FieldKind::boolean:
      return table.GetField<std::uint8_t>(field.slot, static_cast<std::uint8_t>(field.default_integer)) != 0;
    case FieldKind::int8:
      return integer<std::int8_t>(table, field);
    case FieldKind::int32:
      return integer<std::int32_t>(table, field);
    case FieldKind::uint32:
      return integer<std::uint32_t>(table, field);
    case FieldKind::int64:
      return integer<std::int64_t>(table, field);
    case FieldKind::float32:
      return table.GetField<float>(field.slot, field.default_real);
    case FieldKind::string:
    case FieldKind::bytes:
      return text(table, field, copying);
    case FieldKind::booleans:
      return list<std::int64_t, std::uint8_t>(table, field, copying);
    case FieldKind::int32s:
      return list<std::int64_t, std::int32_t>(table, field, copying);
    case FieldKind::uint32s:
      return list<std::int64_t, std::uint32_t>(table, field, copying);
    case FieldKind::int64s:
      return list<std::int64_t, std::int64_t>(table, field, copying);
    case FieldKind::float32s:
      return list<float, float>(table, field, copying);
  }
  return std::monostate();
}

template <class T> std::uint32_t add_integers(const std::vector<std::int64_t>& values, FlatBufferBuilder& builder) {
  std::vector<T> narrowed;
  narrowed.reserve(values.size());
  for (const std::int64_t value : values) narrowed.push_back(narrow<T>(value));
  return builder.CreateVector(narrowed).o;
}

/// What a field refers to must be in the builder before its table is begun; 0 for what lies in the table itself.
std::uint32_t write_referred(const OptionField& field, const OptionValue& value, FlatBufferBuilder& builder) {
  if (value.index() == 0) return 0;
  const auto integers = [&]() -> const std::vector<std::int64_t>& {
    return std::get<std::vector<std::int64_t>>(value);
  };
  switch (field.kind) {
    case FieldKind::string:
      return builder.CreateString(std::get<std::string>(value)).o;
    case FieldKind::bytes: {
      const std::string& bytes = std::get<std::string>(value);
      return builder.CreateVector(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()).o;
    }
    case FieldKind::booleans:
      return add_integers<std::uint8_t>(integers(), builder);
    case FieldKind::int32s:
      return add_integers<std::int32_t>(integers(), builder);
    case FieldKind::uint32s:
      return add_integers<std::uint32_t>(integers(), builder);
    case FieldKind::int64s:
      return add_integers<std::int64_t>(integers(), builder);
    case FieldKind::float32s:
      return builder.CreateVector(std::get<std::vector<float>>(value)).o;
    default:
      return 0;
  }
}

template <class T> void add_integer(const OptionField& field, const OptionValue& value, FlatBufferBuilder& builder) {
  builder.AddElement<T>(field.slot, narrow<T>(std::get<std::int64_t>(value)), static_cast<T>(field.default_integer));
}

void write_scalar(const OptionField& field, const OptionValue& value, FlatBufferBuilder& builder) {
  switch (field.kind) {
    case FieldKind::boolean:
      builder.AddElement<std::uint8_t>(field.slot, std::get<bool>(value),
                                       static_cast<std::uint8_t>(field.default_integer));
      break;
    case FieldKind::int8:
      add_integer<std::int8_t>(field, value, builder);
      break;
    case FieldKind::int32:
      add_integer<std::int32_t>(field, value, builder);
      break;
    case FieldKind::uint32:
      add_integer<std::uint32_t>(field, value, builder);
      break;
    case FieldKind::int64:
      add_integer<std::int64_t>(field, value, builder);
      break;
    case FieldKind::float32:
      builder.AddElement<float>(field.slot, std::get<float>(value), field.default_real);
      break;
    default:
      break;
  }
}

}  // namespace

Options read_options(const Table& table, const OptionTable& description, const Copying& copying) {
  Options options(description.name);
  copying(description.fields.size() * sizeof(OptionValue), &table);
  for (const OptionField& field : description.fields) options.set(field.name, read_field(table, field, copying));
  return options;
}

std::uint32_t write_options(const Options& options, FlatBufferBuilder& builder) {
  const std::vector<OptionField>& fields = options.table()->fields;
  const std::span<const OptionValue> values = options.values();
  std::vector<std::uint32_t> referred;
  for (std::size_t i = 0; i < fields.size(); ++i) referred.push_back(write_referred(fields[i], values[i], builder));
  const std::uint32_t begin = builder.StartTable();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (referred[i] != 0)
      builder.AddOffset(fields[i].slot, Offset<void>(referred[i]));
    else
      write_scalar(fields[i], values[i], builder);
  }
  return builder.EndTable(begin);
}

}  // namespace ingot::formats::tflite
