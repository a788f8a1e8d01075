#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/ir/tensor.h"
#include "ingot/onnx/read_context.h"

namespace ingot::onnx {

/// The fields of a TensorProto, of which a file may hold several parts that merge.
class TensorFields {
 public:
  void read(protobuf::Reader part);
  /// The tensor, once all parts are read. Throws if its data is not exactly what type and shape need. With `name` the
  /// tensor's name goes there and not into its notes.
  Tensor finish(ReadContext& context, std::string* name = nullptr);

 private:
  std::string label() const;
  Bytes data(ReadContext& context);
  std::string used_field() const;

  std::size_t offset_ = 0;
  bool seen_ = false;
  TensorNotes notes_;
  Dims dims_;
  DType dtype_ = DType::undefined;
  bool is_external_ = false;
  Metadata external_;
  Bytes raw_;
  Bytes packed_floats_, packed_doubles_;  // the run of a file that has but one
  std::string floats_, doubles_;          // bytes of several runs
  std::vector<std::int64_t> int32s_, int64s_;
  std::vector<std::uint64_t> uint64s_;
  std::vector<std::string> strings_;
};

/// The same for a SparseTensorProto.
class SparseTensorFields {
 public:
  void read(protobuf::Reader part);
  SparseTensor finish(ReadContext& context, std::string* name = nullptr);

 private:
  TensorFields values_, indices_;
  Dims dims_;
  std::string unknown_;
};

}  // namespace ingot::onnx
