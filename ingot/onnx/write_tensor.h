#pragma once
#include <string_view>
#include <unordered_map>

#include "ingot/formats/protobuf/wire_writer.h"
#include "ingot/ir/tensor.h"

namespace ingot::onnx {

namespace protobuf = ingot::formats::protobuf;

/// Where the weights that go to the data file stand in it.
struct ExternalLayout {
  struct Place {
    std::uint64_t offset, length;
  };
  std::string file_name;
  std::unordered_map<const Tensor*, Place> places;

  /// Null: the tensor stays in the model.
  const Place* find(const Tensor& tensor) const {
    const auto it = places.find(&tensor);
    return it == places.end() ? nullptr : &it->second;
  }
};

/// The fields of a TensorProto. `name` overrides the one in the tensor's notes. `layout`: null, or where the data may
/// stand instead.
void write_tensor(protobuf::Writer& w, const Tensor& tensor, std::string_view name = {},
                  const ExternalLayout* layout = nullptr);
void write_sparse_tensor(protobuf::Writer& w, const SparseTensor& sparse, std::string_view name = {});

void write_entries(protobuf::Writer& w, std::uint32_t field, const Metadata& entries);
/// Fields as they stood in a file.
void write_unknown(protobuf::Writer& w, std::string_view fields);
/// A string that is left out when empty.
void write_text(protobuf::Writer& w, std::uint32_t field, std::string_view text);

}  // namespace ingot::onnx
