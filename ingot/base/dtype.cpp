// Names and sizes of the element types.
#include "ingot/base/dtype.h"

#include <iterator>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"

namespace ingot {
namespace {

struct Row {
  std::string_view name;
  unsigned bits;
};

constexpr Row kRows[] = {
    {"undefined", 0},      {"float", 32},    {"uint8", 8},        {"int8", 8},           {"uint16", 16},
    {"int16", 16},         {"int32", 32},    {"int64", 64},       {"string", 0},         {"bool", 8},
    {"float16", 16},       {"double", 64},   {"uint32", 32},      {"uint64", 64},        {"complex64", 64},
    {"complex128", 128},   {"bfloat16", 16}, {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8},
    {"float8e5m2fnuz", 8}, {"uint4", 4},     {"int4", 4},         {"float4e2m1", 4},     {"float8e8m0", 8},
    {"uint2", 2},          {"int2", 2},
};
static_assert(std::size(kRows) == kDTypeCount);

const Row& row_of(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  return kRows[index < std::size(kRows) ? index : 0];
}

}  // namespace

std::string_view name_of(DType dtype) { return row_of(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (std::size_t i = 1; i < std::size(kRows); ++i)
    if (kRows[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

unsigned bits_of(DType dtype) { return row_of(dtype).bits; }

std::optional<std::uint64_t> byte_count(DType dtype, std::uint64_t elements) {
  const std::uint64_t bits = bits_of(dtype);
  if (bits == 0) return std::nullopt;
  if (bits >= 8) return checked_mul(elements, bits / 8);
  const std::uint64_t per_byte = 8 / bits;
  return elements / per_byte + (elements % per_byte != 0);
}

void throw_unknown_dtype(DType dtype) {
  throw Error(Code::unknown_dtype, "no implementation for element type " + std::string(name_of(dtype)));
}

}  // namespace ingot
