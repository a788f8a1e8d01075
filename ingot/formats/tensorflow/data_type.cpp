// TensorFlow's element types: numbers, names, sizes, and what they are in ONNX.
#include "ingot/formats/tensorflow/data_type.h"

#include <algorithm>
#include <string>

#include "ingot/base/error.h"

namespace ingot::formats::tensorflow {
namespace {

struct Row {
  std::string_view name;
  DType dtype;
  unsigned size;
};

constexpr Row kTypes[] = {
    {"DT_INVALID", DType::undefined, 0},
    {"DT_FLOAT", DType::f32, 4},
    {"DT_DOUBLE", DType::f64, 8},
    {"DT_INT32", DType::i32, 4},
    {"DT_UINT8", DType::u8, 1},
    {"DT_INT16", DType::i16, 2},
    {"DT_INT8", DType::i8, 1},
    {"DT_STRING", DType::string, 0},
    {"DT_COMPLEX64", DType::c64, 8},
    {"DT_INT64", DType::i64, 8},
    {"DT_BOOL", DType::boolean, 1},
    {"DT_QINT8", DType::i8, 1},
    {"DT_QUINT8", DType::u8, 1},
    {"DT_QINT32", DType::i32, 4},
    {"DT_BFLOAT16", DType::bf16, 2},
    {"DT_QINT16", DType::i16, 2},
    {"DT_QUINT16", DType::u16, 2},
    {"DT_UINT16", DType::u16, 2},
    {"DT_COMPLEX128", DType::c128, 16},
    {"DT_HALF", DType::f16, 2},
    {"DT_RESOURCE", DType::undefined, 0},
    {"DT_VARIANT", DType::undefined, 0},
    {"DT_UINT32", DType::u32, 4},
    {"DT_UINT64", DType::u64, 8},
    {"DT_FLOAT8_E5M2", DType::f8e5m2, 1},
    {"DT_FLOAT8_E4M3FN", DType::f8e4m3fn, 1},
    {"DT_FLOAT8_E4M3FNUZ", DType::f8e4m3fnuz, 1},
    {"DT_FLOAT8_E4M3B11FNUZ", DType::undefined, 1},
    {"DT_FLOAT8_E5M2FNUZ", DType::f8e5m2fnuz, 1},
    {"DT_INT4", DType::i4, 1},
    {"DT_UINT4", DType::u4, 1},
    {"DT_INT2", DType::i2, 1},
    {"DT_UINT2", DType::u2, 1},
    {"DT_FLOAT4_E2M1FN", DType::f4e2m1, 1},
};

const Row& row(DataType type) { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

DataType data_type_of(std::int64_t number) {
  if (number >= 100) number -= 100;
  if (number < 0 || number >= static_cast<std::int64_t>(std::size(kTypes)))
    throw Error(Code::bad_element_type, "there is no TensorFlow element type " + std::to_string(number));
  return static_cast<DataType>(number);
}

std::optional<DataType> data_type_by_name(std::string_view name) {
  if (name.ends_with("_REF")) name.remove_suffix(4);
  for (std::size_t i = 0; i < std::size(kTypes); ++i)
    if (kTypes[i].name == name) return static_cast<DataType>(i);
  return std::nullopt;
}

std::string_view name_of(DataType type) { return row(type).name; }
DType dtype_of(DataType type) { return row(type).dtype; }
unsigned element_size(DataType type) { return row(type).size; }

DataType data_type_of(DType dtype) {
  const auto found =
      std::ranges::find_if(kTypes, [&](const Row& r) { return r.dtype == dtype && !r.name.starts_with("DT_Q"); });
  return found == std::end(kTypes) || dtype == DType::undefined ? DataType::invalid
                                                                : static_cast<DataType>(found - std::begin(kTypes));
}

}  // namespace ingot::formats::tensorflow
