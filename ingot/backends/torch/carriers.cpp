// Element types that PyTorch lacks, in others.
#include "ingot/backends/torch/carriers.h"

#include "ingot/formats/torch/scalar_type.h"

namespace ingot::backends::torch {
namespace {

template <class T, class From> Tensor rewritten(const Dims& dims, const std::vector<From>& values) {
  std::vector<T> made;
  made.reserve(values.size());
  for (const From value : values) made.push_back(static_cast<T>(value));
  return Tensor::of<T>(dims, made);
}

}  // namespace

DType carrier_of(DType dtype) {
  switch (dtype) {
    case DType::u16:
      return DType::i32;
    case DType::u32:
    case DType::u64:
      return DType::i64;
    case DType::i4:
    case DType::i2:
      return DType::i8;
    case DType::u4:
    case DType::u2:
      return DType::u8;
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
    case DType::f8e8m0:
    case DType::f4e2m1:
      return DType::f32;
    case DType::string:
    case DType::c64:
    case DType::c128:
      return DType::undefined;
    default:
      return formats::torch::number_of(dtype) >= 0 ? dtype : DType::undefined;
  }
}

bool is_carried(DType dtype) {
  const DType carrier = carrier_of(dtype);
  return carrier != dtype && carrier != DType::undefined;
}

Tensor carried(const Tensor& tensor) {
  const DType to = carrier_of(tensor.dtype());
  if (to == tensor.dtype()) return tensor;
  const Dims& dims = tensor.dims();
  switch (to) {
    case DType::i8:
      return rewritten<std::int8_t>(dims, tensor.to_ints());
    case DType::u8:
      return rewritten<std::uint8_t>(dims, tensor.to_ints());
    case DType::i32:
      return rewritten<std::int32_t>(dims, tensor.to_ints());
    case DType::i64:
      if (tensor.dtype() == DType::u64) return {to, dims, tensor.bytes()};
      return rewritten<std::int64_t>(dims, tensor.to_ints());
    default:
      return rewritten<float>(dims, tensor.to_doubles());
  }
}

std::string mask_of(DType dtype) {
  if (dtype == DType::u16) return "65535";
  if (dtype == DType::u32) return "4294967295";
  return {};
}

}  // namespace ingot::backends::torch
