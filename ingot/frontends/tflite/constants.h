#pragma once
#include <optional>
#include <vector>

#include "ingot/formats/tflite/model.h"
#include "ingot/ir/tensor.h"

namespace ingot::frontends::tflite {

/// The element type that stands for one of TFLite's; undefined for those without (RESOURCE, VARIANT).
DType dtype_for(formats::tflite::TensorType type);

/// The constant of a tensor, sparse ones expanded; nothing if it has no data. Two-bit integers become int8, which older
/// operator sets know.
std::optional<Tensor> constant_tensor(const formats::tflite::Model& model, const formats::tflite::Tensor& tensor);

/// The dense form of a sparse tensor's data.
Bytes densified(const formats::tflite::Tensor& tensor, const Bytes& values);

/// dims[i] = old dims[perm[i]]; four-bit integers become int8.
Tensor transposed_constant(const Tensor& tensor, const std::vector<std::int64_t>& perm);

/// Four- and two-bit integers as int8 or uint8, others as they are.
Tensor in_whole_bytes(const Tensor& tensor);

/// real = scale * (q - zero_point), along `axis` where there is more than one scale.
Tensor dequantized(const Tensor& tensor, const std::vector<float>& scale, const std::vector<std::int64_t>& zero_point,
                   std::size_t axis);

/// The same with a scale and, if given, a zero point for each block of elements along the last dimension.
Tensor dequantized_blocks(const Tensor& tensor, const Tensor& scales, const std::optional<Tensor>& zeros,
                          std::int64_t block);

Tensor float_tensor(const Dims& dims, const std::vector<double>& values);

}  // namespace ingot::frontends::tflite
