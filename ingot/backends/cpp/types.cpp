// Element types in C.
#include "ingot/backends/cpp/types.h"

namespace ingot::backends::cpp {

CType c_type(DType type) {
  switch (type) {
    case DType::f32:
      return {"f32", "float", "float"};
    case DType::f64:
      return {"f64", "double", "double"};
    case DType::i8:
      return {"i8", "int8_t", "int8_t"};
    case DType::i16:
      return {"i16", "int16_t", "int16_t"};
    case DType::i32:
      return {"i32", "int32_t", "int32_t"};
    case DType::i64:
      return {"i64", "int64_t", "int64_t"};
    case DType::u8:
      return {"u8", "uint8_t", "uint8_t"};
    case DType::u16:
      return {"u16", "uint16_t", "uint16_t"};
    case DType::u32:
      return {"u32", "uint32_t", "uint32_t"};
    case DType::u64:
      return {"u64", "uint64_t", "uint64_t"};
    case DType::boolean:
      return {"bool", "bool", "bool"};
    case DType::f16:
      return {"f16", "uint16_t", "float"};
    case DType::bf16:
      return {"bf16", "uint16_t", "float"};
    case DType::f8e4m3fn:
      return {"f8e4m3fn", "uint8_t", "float"};
    case DType::f8e4m3fnuz:
      return {"f8e4m3fnuz", "uint8_t", "float"};
    case DType::f8e5m2:
      return {"f8e5m2", "uint8_t", "float"};
    case DType::f8e5m2fnuz:
      return {"f8e5m2fnuz", "uint8_t", "float"};
    case DType::f8e8m0:
      return {"f8e8m0", "uint8_t", "float"};
    case DType::f4e2m1:
      return {"f4e2m1", "uint8_t", "float"};
    case DType::i4:
      return {"i4", "int8_t", "int8_t"};
    case DType::u4:
      return {"u4", "uint8_t", "uint8_t"};
    case DType::i2:
      return {"i2", "int8_t", "int8_t"};
    case DType::u2:
      return {"u2", "uint8_t", "uint8_t"};
    default:
      throw_unknown_dtype(type);
  }
}

bool is_small_float(DType type) { return is_float(type) && type != DType::f32 && type != DType::f64; }

}  // namespace ingot::backends::cpp
