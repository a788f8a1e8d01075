#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "ingot/base/dtype.h"

namespace ingot::formats::tensorflow {

/// TensorFlow's element types by their numbers in files; a reference type (number + 100) is read as its plain type.
enum class DataType : std::int32_t {
  invalid = 0,
  f32 = 1,
  f64 = 2,
  i32 = 3,
  u8 = 4,
  i16 = 5,
  i8 = 6,
  string = 7,
  c64 = 8,
  i64 = 9,
  boolean = 10,
  qint8 = 11,
  quint8 = 12,
  qint32 = 13,
  bf16 = 14,
  qint16 = 15,
  quint16 = 16,
  u16 = 17,
  c128 = 18,
  f16 = 19,
  resource = 20,
  variant = 21,
  u32 = 22,
  u64 = 23,
  f8e5m2 = 24,
  f8e4m3fn = 25,
  f8e4m3fnuz = 26,
  f8e4m3b11fnuz = 27,
  f8e5m2fnuz = 28,
  i4 = 29,
  u4 = 30,
  i2 = 31,
  u2 = 32,
  f4e2m1fn = 33,
};

/// The number of a file; refuses numbers that name no type.
DataType data_type_of(std::int64_t number);
/// "DT_FLOAT" -> f32; nothing if there is no such type.
std::optional<DataType> data_type_by_name(std::string_view name);
/// "DT_FLOAT"
std::string_view name_of(DataType type);
/// How ONNX holds elements of the type; undefined for resources, variants and types that ONNX lacks.
DType dtype_of(DataType type);
DataType data_type_of(DType dtype);
/// Bytes of one element in tensor_content; 0 for strings, resources and variants.
unsigned element_size(DataType type);

}  // namespace ingot::formats::tensorflow
