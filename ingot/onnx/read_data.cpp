// Test data on the way in: SequenceProto, MapProto, OptionalProto and tensors.
#include <fmt/format.h>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/onnx/data.h"
#include "ingot/onnx/fields.h"
#include "ingot/onnx/read_tensor.h"

namespace ingot::onnx {
namespace {

using Parts = std::vector<protobuf::Reader>;
using Kind = Data::Kind;

Data read_value(Kind kind, const Parts& parts, ReadContext& context);

/// The kind of what a field of SequenceProto or OptionalProto holds: both number them alike.
Kind kind_of_field(std::uint32_t field) {
  return field >= SequenceField::tensor_values && field <= SequenceField::optional_values
             ? static_cast<Kind>(field - SequenceField::tensor_values + 1)
             : Kind::none;
}

Kind read_kind(const protobuf::Reader& field) {
  const std::uint64_t number = field.varint();
  if (number > static_cast<std::uint64_t>(Kind::optional))
    throw Error(Code::bad_field_value,
                fmt::format("kind of elements {} at byte {} does not exist", number, field.offset()));
  return static_cast<Kind>(number);
}

void check_kind(const protobuf::Reader& field, Kind& known) {
  const Kind kind = kind_of_field(field.field());
  if (known != Kind::none && known != kind)
    throw Error(Code::conflicting_data,
                fmt::format("the value at byte {} is not of the kind that was stated", field.offset()));
  known = kind;
}

Data read_sequence(const Parts& parts, ReadContext& context) {
  Data data;
  for (protobuf::Reader part : parts) {
    while (part.next()) {
      if (part.field() == SequenceField::name) {
        data.name = part.string();
      } else if (part.field() == SequenceField::elem_type) {
        data.item_kind = read_kind(part);
      } else if (kind_of_field(part.field()) != Kind::none) {
        check_kind(part, data.item_kind);
        data.items.push_back(read_value(data.item_kind, {part.message()}, context));
      }
    }
  }
  return data;
}

Data read_optional(const Parts& parts, ReadContext& context) {
  Data data;
  Parts value;
  for (protobuf::Reader part : parts) {
    while (part.next()) {
      if (part.field() == OptionalField::name) {
        data.name = part.string();
      } else if (part.field() == OptionalField::elem_type) {
        data.item_kind = read_kind(part);
      } else if (kind_of_field(part.field()) != Kind::none) {
        check_kind(part, data.item_kind);
        value.push_back(part.message());
      }
    }
  }
  if (!value.empty()) data.items.push_back(read_value(data.item_kind, value, context));
  return data;
}

Data read_map(const Parts& parts, ReadContext& context) {
  Data data;
  Parts values;
  for (protobuf::Reader part : parts) {
    while (part.next()) {
      switch (part.field()) {
        case MapField::name:
          data.name = part.string();
          break;
        case MapField::key_type:
          data.key_type = read_dtype(part);
          break;
        case MapField::keys:
          part.ints(data.keys);
          break;
        case MapField::string_keys:
          data.string_keys.push_back(part.string());
          break;
        case MapField::values:
          values.push_back(part.message());
          break;
        default:
          break;
      }
    }
  }
  Data sequence = read_sequence(values, context);
  data.items = std::move(sequence.items);
  data.item_kind = sequence.item_kind;
  const std::size_t keys = data.keys.size() + data.string_keys.size();
  if (keys != data.items.size() || (!data.keys.empty() && !data.string_keys.empty()))
    throw Error(Code::conflicting_data, fmt::format("a map has {} keys for {} values", keys, data.items.size()));
  return data;
}

Data read_value(Kind kind, const Parts& parts, ReadContext& context) {
  context.count_object();
  Data data;
  switch (kind) {
    case Kind::tensor: {
      TensorFields fields;
      for (const protobuf::Reader& part : parts) fields.read(part);
      data.tensor = fields.finish(context, &data.name);
      break;
    }
    case Kind::sparse_tensor: {
      SparseTensorFields fields;
      for (const protobuf::Reader& part : parts) fields.read(part);
      data.sparse = fields.finish(context, &data.name);
      break;
    }
    case Kind::sequence:
      data = read_sequence(parts, context);
      break;
    case Kind::map:
      data = read_map(parts, context);
      break;
    case Kind::optional:
      data = read_optional(parts, context);
      break;
    case Kind::none:
      break;
  }
  data.kind = kind;
  return data;
}

Kind kind_of(const Type& type) {
  switch (type.kind) {
    case Type::Kind::sparse_tensor:
      return Kind::sparse_tensor;
    case Type::Kind::sequence:
      return Kind::sequence;
    case Type::Kind::map:
      return Kind::map;
    case Type::Kind::optional:
      return Kind::optional;
    case Type::Kind::none:
    case Type::Kind::tensor:
      return Kind::tensor;
    case Type::Kind::opaque:
      break;
  }
  throw Error(Code::unsupported_feature, "values of an opaque type cannot be read");
}

}  // namespace

Data read_data(const Bytes& bytes, const Type& type, const std::string& directory, const ReadOptions& options) {
  ReadContext context(directory, options);
  return read_value(kind_of(type), {protobuf::Reader(bytes)}, context);
}

Data read_data(const std::string& path, const Type& type, const ReadOptions& options) {
  try {
    Data data = read_data(map_file(path), type, split_path(path).directory, options);
    check_mapped_files();
    return data;
  } catch (Error& error) {
    error.in_file(path);
    throw;
  }
}

}  // namespace ingot::onnx
