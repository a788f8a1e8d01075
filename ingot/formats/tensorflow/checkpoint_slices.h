#pragma once
#include <map>
#include <string>
#include <vector>

#include "ingot/formats/protobuf/wire_reader.h"
#include "ingot/formats/tensorflow/checkpoint.h"

namespace ingot::formats::tensorflow {

std::vector<SliceExtent> read_slice(protobuf::Reader r);

/// A tensor put together from parts.
class SlicedTensor {
 public:
  /// `available`: how many bytes all parts have together at most; a larger tensor is refused.
  SlicedTensor(DataType dtype, TensorShape shape, std::uint64_t available, Budget& budget);

  /// The sizes of a part; refuses one that lies outside of the tensor.
  std::vector<std::int64_t> sizes_of(const std::vector<SliceExtent>& slice) const;
  void place(const std::vector<SliceExtent>& slice, const Bytes& elements);
  /// Refuses a tensor of which parts are missing.
  TensorProto finish();

 private:
  DataType dtype_;
  TensorShape shape_;
  std::uint64_t width_, placed_ = 0;
  std::vector<std::byte> bytes_;
};

/// Whether the values stand in the table itself, as version 1 has it.
bool is_version_1(const Bytes& header);
/// The variables of a table of version 1.
std::map<std::string, TensorProto> read_version_1(const std::map<std::string, Bytes>& table, Budget& budget);

}  // namespace ingot::formats::tensorflow
