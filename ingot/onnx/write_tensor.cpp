// Tensors on the way out: always raw_data, but for strings.
#include "ingot/onnx/write_tensor.h"

#include "ingot/onnx/fields.h"

namespace ingot::onnx {

void write_text(protobuf::Writer& w, std::uint32_t field, std::string_view text) {
  if (!text.empty()) w.string(field, text);
}

void write_unknown(protobuf::Writer& w, std::string_view fields) {
  const auto bytes = bytes_of(fields);
  w.raw_field(Bytes(nullptr, bytes.data(), bytes.size()));
}

void write_entries(protobuf::Writer& w, std::uint32_t field, const Metadata& entries) {
  for (const auto& entry : entries) {
    w.message(field, [&] {
      w.string(EntryField::key, entry.first);
      w.string(EntryField::value, entry.second);
    });
  }
}

void write_tensor(protobuf::Writer& w, const Tensor& tensor, std::string_view name, const ExternalLayout* layout) {
  static const TensorNotes kNone;
  const TensorNotes& notes = tensor.notes ? *tensor.notes : kNone;
  for (const std::int64_t dim : tensor.dims()) w.int64(TensorField::dims, dim);
  if (tensor) w.int32(TensorField::data_type, static_cast<std::int32_t>(tensor.dtype()));
  for (const std::string& text : tensor.strings()) w.string(TensorField::string_data, text);
  write_text(w, TensorField::name, name.empty() ? std::string_view(notes.name) : name);
  const ExternalLayout::Place* place = layout ? layout->find(tensor) : nullptr;
  if (!place && !tensor.bytes().empty()) w.bytes(TensorField::raw_data, tensor.bytes());
  write_text(w, TensorField::doc_string, notes.doc_string);
  if (place) {
    write_entries(w, TensorField::external_data,
                  {{"location", layout->file_name},
                   {"offset", std::to_string(place->offset)},
                   {"length", std::to_string(place->length)}});
    w.int32(TensorField::data_location, 1);
  }
  write_entries(w, TensorField::metadata_props, notes.metadata);
  write_unknown(w, notes.unknown);
}

void write_sparse_tensor(protobuf::Writer& w, const SparseTensor& sparse, std::string_view name) {
  const auto write_part = [&](std::uint32_t field, const Tensor& part, std::string_view part_name) {
    if (part || part.notes || !part_name.empty()) w.message(field, [&] { write_tensor(w, part, part_name); });
  };
  write_part(SparseTensorField::values, sparse.values, name);
  write_part(SparseTensorField::indices, sparse.indices, {});
  for (const std::int64_t dim : sparse.dims) w.int64(SparseTensorField::dims, dim);
  write_unknown(w, sparse.unknown);
}

}  // namespace ingot::onnx
