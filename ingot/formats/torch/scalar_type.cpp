// What PyTorch calls element types.
#include "ingot/formats/torch/scalar_type.h"

namespace ingot::formats::torch {
namespace {

struct Names {
  DType dtype;
  std::int64_t number, export_number;  // -1: none
  std::string_view name, other_name, storage, safetensors;
};

constexpr Names kNames[] = {
    {DType::u8, 0, 1, "uint8", "uint8", "ByteStorage", "U8"},
    {DType::i8, 1, 2, "int8", "int8", "CharStorage", "I8"},
    {DType::i16, 2, 3, "int16", "short", "ShortStorage", "I16"},
    {DType::i32, 3, 4, "int32", "int", "IntStorage", "I32"},
    {DType::i64, 4, 5, "int64", "long", "LongStorage", "I64"},
    {DType::f16, 5, 6, "float16", "half", "HalfStorage", "F16"},
    {DType::f32, 6, 7, "float32", "float", "FloatStorage", "F32"},
    {DType::f64, 7, 8, "float64", "double", "DoubleStorage", "F64"},
    {DType::c64, 9, 10, "complex64", "cfloat", "ComplexFloatStorage", "C64"},
    {DType::c128, 10, 11, "complex128", "cdouble", "ComplexDoubleStorage", ""},
    {DType::boolean, 11, 12, "bool", "bool", "BoolStorage", "BOOL"},
    {DType::i8, 12, -1, "qint8", "qint8", "QInt8Storage", ""},
    {DType::u8, 13, -1, "quint8", "quint8", "QUInt8Storage", ""},
    {DType::i32, 14, -1, "qint32", "qint32", "QInt32Storage", ""},
    {DType::bf16, 15, 13, "bfloat16", "bfloat16", "BFloat16Storage", "BF16"},
    {DType::f8e5m2, 23, 30, "float8_e5m2", "float8_e5m2", "", "F8_E5M2"},
    {DType::f8e4m3fn, 24, 29, "float8_e4m3fn", "float8_e4m3fn", "", "F8_E4M3"},
    {DType::f8e5m2fnuz, 25, 32, "float8_e5m2fnuz", "float8_e5m2fnuz", "", "F8_E5M2FNUZ"},
    {DType::f8e4m3fnuz, 26, 31, "float8_e4m3fnuz", "float8_e4m3fnuz", "", "F8_E4M3FNUZ"},
    {DType::u16, 27, 28, "uint16", "uint16", "", "U16"},
    {DType::u32, 28, -1, "uint32", "uint32", "", "U32"},
    {DType::u64, 29, -1, "uint64", "uint64", "", "U64"},
    {DType::f8e8m0, 44, -1, "float8_e8m0fnu", "float8_e8m0fnu", "", "F8_E8M0"},
};

template <class Match> DType first(Match&& match) {
  for (const Names& row : kNames)
    if (match(row)) return row.dtype;
  return DType::undefined;
}

}  // namespace

DType dtype_of_number(std::int64_t number) {
  return first([&](const Names& row) { return row.number == number; });
}

std::int64_t number_of(DType dtype) {
  for (const Names& row : kNames)
    if (row.dtype == dtype) return row.number;
  return -1;
}

DType dtype_of_export_number(std::int64_t number) {
  return first([&](const Names& row) { return number > 0 && row.export_number == number; });
}

DType dtype_of_name(std::string_view name) {
  return first([&](const Names& row) { return row.name == name || row.other_name == name; });
}

DType dtype_of_storage(std::string_view name) {
  if (name == "UntypedStorage") return DType::u8;
  return first([&](const Names& row) { return !row.storage.empty() && row.storage == name; });
}

std::string_view type_name(DType dtype) {
  for (const Names& row : kNames)
    if (row.dtype == dtype) return row.name;
  return {};
}

std::string_view storage_name(DType dtype) {
  for (const Names& row : kNames)
    if (row.dtype == dtype) return row.storage;
  return {};
}

DType dtype_of_safetensors(std::string_view name) {
  return first([&](const Names& row) { return !row.safetensors.empty() && row.safetensors == name; });
}

std::string_view safetensors_name(DType dtype) {
  for (const Names& row : kNames)
    if (row.dtype == dtype) return row.safetensors;
  return {};
}

}  // namespace ingot::formats::torch
