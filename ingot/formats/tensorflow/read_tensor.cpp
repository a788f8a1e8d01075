// TensorProto and TensorShapeProto.
#include <cstring>

#include "ingot/base/byte_reader.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/read_messages.h"

namespace ingot::formats::tensorflow {
namespace {

/// The elements of the field that a type keeps its values in, before they are cut to the type's width.
struct Values {
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int64_t> ints;
  std::vector<std::uint64_t> unsigned_ints;
  Bytes small_floats;
};

template <class T> Bytes bytes_of_values(const std::vector<T>& values) {
  return Bytes::copy(std::as_bytes(std::span(values)));
}

/// The low bytes of each number: how the file widens them.
template <class T> Bytes narrowed(const std::vector<T>& values, unsigned width) {
  std::vector<std::byte> bytes(values.size() * width);
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&bytes[i * width], &values[i], width);
  return Bytes::own(std::move(bytes));
}

Bytes elements_of(const Values& v, DataType dtype) {
  if (!v.small_floats.empty()) return v.small_floats;
  if (!v.floats.empty()) return bytes_of_values(v.floats);
  if (!v.doubles.empty()) return bytes_of_values(v.doubles);
  const unsigned width = element_size(dtype);
  if (width == 0 || width > 8) return {};
  return v.ints.empty() ? narrowed(v.unsigned_ints, width) : narrowed(v.ints, width);
}

/// Strings in tensor_content: all lengths, then all bytes.
std::vector<std::string> strings_of(const Bytes& content, std::uint64_t count) {
  ByteReader in(content.span());
  if (count > content.size()) throw Error(Code::tensor_size_mismatch, "a tensor has fewer strings than its shape");
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(count));
  for (std::uint64_t& length : lengths) length = in.varint();
  std::vector<std::string> strings;
  for (const std::uint64_t length : lengths) {
    const auto bytes = in.bytes(length);
    strings.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return strings;
}

/// The rule of the last element is for lists of values alone: bytes are all there.
void check_size(const TensorProto& tensor) {
  const auto count = ingot::element_count(tensor.shape.dims);
  const std::uint64_t width = element_size(tensor.dtype);
  if (tensor.shape.unknown_rank || !count || width == 0) return;  // refused by whoever wants the value
  if (tensor.elements.size() % width != 0 || tensor.elements.size() / width != *count)
    throw Error(Code::tensor_size_mismatch, "a tensor has " + std::to_string(tensor.elements.size()) +
                                                " bytes of data for " + std::to_string(*count) + " elements");
}

}  // namespace

TensorShape read_shape(protobuf::Reader r) {
  TensorShape shape;
  while (r.next()) {
    if (r.field() == 3) shape.unknown_rank = r.boolean();
    if (r.field() != 2) continue;
    std::int64_t size = 0;
    for (protobuf::Reader d = r.message(); d.next();)
      if (d.field() == 1) size = d.int64();
    shape.dims.push_back(size);
    if (shape.dims.size() > 1024) throw Error(Code::bad_shape, "a tensor has more than 1024 dimensions");
  }
  return shape;
}

TensorProto read_tensor(protobuf::Reader r, DataType type) {
  TensorProto tensor;
  tensor.dtype = type;
  Values v;
  Bytes content;
  std::vector<std::int32_t> halves;
  while (r.next()) {
    switch (r.field()) {
      case 1:
        tensor.dtype = data_type_of(r.int64());
        break;
      case 2:
        tensor.shape = read_shape(r.message());
        break;
      case 4:
        content = r.bytes();
        break;
      case 5:
      case 9:
        r.floats(v.floats);
        break;
      case 6:
      case 12:
        r.doubles(v.doubles);
        break;
      case 7:
      case 10:
      case 11:
      case 13:
        r.ints(v.ints);
        break;
      case 8:
        tensor.strings.push_back(r.string());
        break;
      case 16:
      case 17:
        r.uint64s(v.unsigned_ints);
        break;
      case 18:
        v.small_floats = r.bytes();
        break;
      default:
        r.skip();
    }
  }
  if (content.empty())
    tensor.elements = elements_of(v, tensor.dtype);
  else if (tensor.dtype == DataType::string)
    tensor.strings = strings_of(content, element_count(tensor.shape));
  else
    tensor.elements = content;
  if (!content.empty() && tensor.dtype != DataType::string) check_size(tensor);
  return tensor;
}

TensorProto read_tensor(const Bytes& message) { return read_tensor(protobuf::Reader(message)); }

}  // namespace ingot::formats::tensorflow
