#pragma once
#include <string>
#include <vector>

#include "ingot/ir/tensor.h"
#include "ingot/ir/type.h"
#include "ingot/onnx/reader.h"

namespace ingot::onnx {

/// A value of any ONNX type, as the files of test data hold it (input_0.pb: TensorProto, SparseTensorProto,
/// SequenceProto, MapProto or OptionalProto).
struct Data {
  /// The numbers of SequenceProto.DataType.
  enum class Kind : std::uint8_t { none = 0, tensor = 1, sparse_tensor = 2, sequence = 3, map = 4, optional = 5 };

  Kind kind = Kind::none;
  std::string name = {};
  Tensor tensor = {};
  SparseTensor sparse = {};
  /// Of a sequence the elements, of a map the values, of an optional its value or nothing.
  std::vector<Data> items = {};
  Kind item_kind = Kind::none;  // also known where there are no items
  /// Of a map, one for each item: strings, or integers of the key type.
  DType key_type = DType::undefined;
  std::vector<std::int64_t> keys = {};
  std::vector<std::string> string_keys = {};

  friend bool operator==(const Data&, const Data&) = default;
};

/// Reads test data. The file does not say what it holds: `type` does, as a rule that of the model's input or output;
/// an unknown type is taken for a tensor.
Data read_data(const std::string& path, const Type& type, const ReadOptions& options = {});
Data read_data(const Bytes& bytes, const Type& type, const std::string& directory = {},
               const ReadOptions& options = {});

void write_data(const Data& data, const std::string& path);
std::string data_to_bytes(const Data& data);

}  // namespace ingot::onnx
