// Element types in MLIR.
#include "ingot/backends/mlir/types.h"

namespace ingot::backends::mlir {

MType m_type(DType type) {
  switch (type) {
    case DType::f32:
      return {"f32", "f32", "f32"};
    case DType::f64:
      return {"f64", "f64", "f64"};
    case DType::i8:
      return {"i8", "i8", "i8"};
    case DType::i16:
      return {"i16", "i16", "i16"};
    case DType::i32:
      return {"i32", "i32", "i32"};
    case DType::i64:
      return {"i64", "i64", "i64"};
    case DType::u8:
      return {"u8", "i8", "i8"};
    case DType::u16:
      return {"u16", "i16", "i16"};
    case DType::u32:
      return {"u32", "i32", "i32"};
    case DType::u64:
      return {"u64", "i64", "i64"};
    case DType::boolean:
      return {"bool", "i8", "i1"};
    case DType::f16:
      return {"f16", "i16", "f32"};
    case DType::bf16:
      return {"bf16", "i16", "f32"};
    case DType::f8e4m3fn:
      return {"f8e4m3fn", "i8", "f32"};
    case DType::f8e4m3fnuz:
      return {"f8e4m3fnuz", "i8", "f32"};
    case DType::f8e5m2:
      return {"f8e5m2", "i8", "f32"};
    case DType::f8e5m2fnuz:
      return {"f8e5m2fnuz", "i8", "f32"};
    case DType::f8e8m0:
      return {"f8e8m0", "i8", "f32"};
    case DType::f4e2m1:
      return {"f4e2m1", "i8", "f32"};
    case DType::i4:
      return {"i4", "i8", "i8"};
    case DType::u4:
      return {"u4", "i8", "i8"};
    case DType::i2:
      return {"i2", "i8", "i8"};
    case DType::u2:
      return {"u2", "i8", "i8"};
    default:
      throw_unknown_dtype(type);
  }
}

bool is_small_float(DType type) { return is_float(type) && type != DType::f32 && type != DType::f64; }

bool is_unsigned(DType type) { return type == DType::boolean || (is_integer(type) && !is_signed_integer(type)); }

std::string memref_of(DType type) { return std::string("memref<?x") + m_type(type).storage + ">"; }

}  // namespace ingot::backends::mlir
