// Test data on the way out.
#include "ingot/base/atomic_file.h"
#include "ingot/onnx/data.h"
#include "ingot/onnx/fields.h"
#include "ingot/onnx/write_tensor.h"

namespace ingot::onnx {
namespace {

void write_value(protobuf::Writer& w, const Data& data);

void write_items(protobuf::Writer& w, const Data& data) {
  static_assert(static_cast<int>(SequenceField::optional_values) == static_cast<int>(OptionalField::optional_value));
  w.int32(SequenceField::elem_type, static_cast<std::int32_t>(data.item_kind));
  const auto field = static_cast<std::uint32_t>(data.item_kind) + SequenceField::tensor_values - 1;
  for (const Data& item : data.items) w.message(field, [&] { write_value(w, item); });
}

void write_value(protobuf::Writer& w, const Data& data) {
  switch (data.kind) {
    case Data::Kind::none:
      break;
    case Data::Kind::tensor:
      write_tensor(w, data.tensor, data.name);
      break;
    case Data::Kind::sparse_tensor:
      write_sparse_tensor(w, data.sparse, data.name);
      break;
    case Data::Kind::sequence:
    case Data::Kind::optional:
      write_text(w, SequenceField::name, data.name);
      write_items(w, data);
      break;
    case Data::Kind::map:
      write_text(w, MapField::name, data.name);
      w.int32(MapField::key_type, static_cast<std::int32_t>(data.key_type));
      for (const std::int64_t key : data.keys) w.int64(MapField::keys, key);
      for (const std::string& key : data.string_keys) w.string(MapField::string_keys, key);
      w.message(MapField::values, [&] { write_items(w, data); });
      break;
  }
}

}  // namespace

std::string data_to_bytes(const Data& data) {
  return protobuf::serialize([&](protobuf::Writer& w) { write_value(w, data); });
}

void write_data(const Data& data, const std::string& path) {
  AtomicFile file(path);
  protobuf::write_message(file, [&](protobuf::Writer& w) { write_value(w, data); });
  file.commit();
}

}  // namespace ingot::onnx
