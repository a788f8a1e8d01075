// Tensors of TensorFlow files as tensors of the IR.
#include "ingot/frontends/tensorflow/constants.h"

#include "ingot/base/budget.h"
#include "ingot/base/error.h"

namespace ingot::frontends::tensorflow {

namespace tf = formats::tensorflow;

Tensor to_tensor(const tf::TensorProto& proto, Budget& budget) {
  if (proto.dtype == tf::DataType::string)
    return Tensor::of_strings(proto.shape.dims, tf::expanded_strings(proto, budget));
  const DType dtype = tf::dtype_of(proto.dtype);
  if (dtype == DType::undefined)
    throw Error(Code::unsupported_setting, "ONNX has no tensors of " + std::string(tf::name_of(proto.dtype)));
  const Bytes elements = tf::expanded_elements(proto, budget);
  if (!is_sub_byte(dtype)) return Tensor(dtype, proto.shape.dims, elements);
  // The file has a byte per element, ONNX packs them from the low bits on.
  const unsigned bits = bits_of(dtype);
  const unsigned per_byte = 8 / bits;
  std::vector<std::byte> packed((elements.size() + per_byte - 1) / per_byte);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const unsigned value = static_cast<unsigned>(elements.data()[i]) & ((1u << bits) - 1);
    packed[i / per_byte] |= static_cast<std::byte>(value << (i % per_byte * bits));
  }
  return Tensor(dtype, proto.shape.dims, Bytes::own(std::move(packed)));
}

}  // namespace ingot::frontends::tensorflow
