// MAT-files of level 5, uncompressed.
#include "ingot/backends/matlab/mat_file.h"

#include <cstring>

#include "ingot/base/elements.h"
#include "ingot/base/error.h"
#include "ingot/ir/array.h"

namespace ingot::backends::matlab {
namespace {

void put(std::string& out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

/// An element: its kind, its length, its bytes, padded to eight.
void put_element(std::string& out, std::uint32_t kind, const std::string& bytes) {
  put(out, kind);
  put(out, static_cast<std::uint32_t>(bytes.size()));
  out += bytes;
  out.resize((out.size() + 7) / 8 * 8, '\0');
}

struct Kind {
  std::uint32_t array_class, element, flags;
};

Kind kind_of(DType type) {
  switch (type) {
    case DType::f64:
      return {6, 9, 0};
    case DType::i8:
    case DType::i4:
    case DType::i2:
      return {8, 1, 0};
    case DType::u8:
    case DType::u4:
    case DType::u2:
      return {9, 2, 0};
    case DType::boolean:
      return {9, 2, 2};  // logical
    case DType::i16:
      return {10, 3, 0};
    case DType::u16:
      return {11, 4, 0};
    case DType::i32:
      return {12, 5, 0};
    case DType::u32:
      return {13, 6, 0};
    case DType::i64:
      return {14, 12, 0};
    case DType::u64:
      return {15, 13, 0};
    default:
      return {7, 7, 0};  // single, smaller floats too
  }
}

std::string data_of(const Tensor& tensor) {
  const DType type = tensor.dtype();
  if (is_float(type) && type != DType::f32 && type != DType::f64) {
    std::string bytes;
    for (const double value : tensor.to_doubles()) {
      const auto single = static_cast<float>(value);
      bytes.append(reinterpret_cast<const char*>(&single), sizeof single);
    }
    return bytes;
  }
  const Array array = Array::from(tensor);
  return std::string(reinterpret_cast<const char*>(array.bytes()), array.byte_size());
}

}  // namespace

std::string mat_file(const std::vector<MatVariable>& variables) {
  std::string out = "MATLAB 5.0 MAT-file, made by ingot compile";
  out.resize(124, ' ');
  out += std::string("\x00\x01IM", 4);
  for (const MatVariable& v : variables) {
    const Kind kind = kind_of(v.value->dtype());
    std::string matrix, flags, dims;
    put(flags, kind.array_class | kind.flags << 8);
    put(flags, 0);
    put_element(matrix, 6, flags);
    put(dims, static_cast<std::uint32_t>(v.value->size()));
    put(dims, 1);
    put_element(matrix, 5, dims);
    put_element(matrix, 1, v.name);
    const std::string data = data_of(*v.value);
    if (data.size() > 0x7FFFFFFF)
      throw Error(Code::not_expressible, "a MAT-file of level 5 holds no array of 2 GiB or more");
    put_element(matrix, kind.element, data);
    put(out, 14);
    put(out, static_cast<std::uint32_t>(matrix.size()));
    out += matrix;
  }
  return out;
}

}  // namespace ingot::backends::matlab
