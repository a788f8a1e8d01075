// Constants of TFLite tensors: types, sparse and sub-byte data, transposed copies.
#include "ingot/frontends/tflite/constants.h"

#include <algorithm>
#include <cstring>

#include "ingot/base/checked.h"
#include "ingot/base/elements.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/string_tensor.h"
#include "ingot/ir/transpose.h"

namespace ingot::frontends::tflite {

namespace tfl = formats::tflite;

DType dtype_for(tfl::TensorType type) {
  switch (type) {
    case tfl::TensorType::FLOAT32:
      return DType::f32;
    case tfl::TensorType::FLOAT16:
      return DType::f16;
    case tfl::TensorType::INT32:
      return DType::i32;
    case tfl::TensorType::UINT8:
      return DType::u8;
    case tfl::TensorType::INT64:
      return DType::i64;
    case tfl::TensorType::STRING:
      return DType::string;
    case tfl::TensorType::BOOL:
      return DType::boolean;
    case tfl::TensorType::INT16:
      return DType::i16;
    case tfl::TensorType::COMPLEX64:
      return DType::c64;
    case tfl::TensorType::INT8:
      return DType::i8;
    case tfl::TensorType::FLOAT64:
      return DType::f64;
    case tfl::TensorType::COMPLEX128:
      return DType::c128;
    case tfl::TensorType::UINT64:
      return DType::u64;
    case tfl::TensorType::UINT32:
      return DType::u32;
    case tfl::TensorType::UINT16:
      return DType::u16;
    case tfl::TensorType::INT4:
      return DType::i4;
    case tfl::TensorType::BFLOAT16:
      return DType::bf16;
    case tfl::TensorType::INT2:
      return DType::i8;
    case tfl::TensorType::UINT4:
      return DType::u4;
    case tfl::TensorType::FLOAT8_E4M3FN:
      return DType::f8e4m3fn;
    case tfl::TensorType::FLOAT8_E5M2:
      return DType::f8e5m2;
    default:
      return DType::undefined;
  }
}

namespace {

/// A file of a few bytes may describe a sparse tensor of any size: beyond this it is not believed.
constexpr std::uint64_t kSmallTensor = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostGrowth = 4096;

/// Walks the levels of a sparse tensor; each leaf is the position of one stored value.
class Expansion {
 public:
  Expansion(const tfl::Tensor& tensor, std::size_t element_size, const Bytes& values)
      : tensor_(tensor), sparsity_(*tensor.sparsity), size_(element_size), values_(values) {
    const std::size_t rank = tensor.shape.size();
    blocks_.assign(rank, 1);
    for (std::size_t k = 0; k < sparsity_.block_map.size(); ++k) {
      const auto level = std::ranges::find(sparsity_.traversal_order, static_cast<std::int32_t>(rank + k));
      const auto at = static_cast<std::size_t>(level - sparsity_.traversal_order.begin());
      blocks_[static_cast<std::size_t>(sparsity_.block_map[k])] = sparsity_.dim_metadata[at].dense_size;
    }
    strides_.assign(rank, 1);
    for (std::size_t i = rank; i-- > 1;) strides_[i - 1] = strides_[i] * static_cast<std::uint64_t>(tensor.shape[i]);
    position_.assign(rank + sparsity_.block_map.size(), 0);
    const std::uint64_t size = *tfl::dense_size(tensor);
    if (size / kMostGrowth > values.size() + (kSmallTensor / kMostGrowth))
      throw Error(Code::bad_tensor, "sparse tensor '" + tensor.name + "' is far larger than its data");
    dense_.resize(size);
  }

  Bytes run() {
    level(0, 0);
    return Bytes::own(std::move(dense_));
  }

 private:
  // As deep as the tensor has dimensions and block dimensions, which the reader limits.
  void level(std::size_t depth, std::uint64_t index) {
    if (depth == sparsity_.dim_metadata.size()) return store(index);
    const tfl::DimensionMetadata& meta = sparsity_.dim_metadata[depth];
    const auto at = static_cast<std::size_t>(sparsity_.traversal_order[depth]);
    if (meta.format == tfl::DimensionType::DENSE) {
      for (std::int32_t i = 0; i < meta.dense_size; ++i) {
        position_[at] = i;
        level(depth + 1, index * static_cast<std::uint64_t>(meta.dense_size) + static_cast<std::uint64_t>(i));
      }
      return;
    }
    const auto begin = static_cast<std::uint64_t>(meta.array_segments.values.at(index));
    const auto end = static_cast<std::uint64_t>(meta.array_segments.values.at(index + 1));
    for (std::uint64_t i = begin; i < end; ++i) {
      position_[at] = meta.array_indices.values.at(i);
      level(depth + 1, i);
    }
  }

  void store(std::uint64_t index) {
    const std::size_t rank = tensor_.shape.size();
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      std::int64_t p = position_[i] * blocks_[i];
      for (std::size_t k = 0; k < sparsity_.block_map.size(); ++k)
        if (static_cast<std::size_t>(sparsity_.block_map[k]) == i) p += position_[rank + k];
      offset += static_cast<std::uint64_t>(p) * strides_[i];
    }
    if ((offset + 1) * size_ > dense_.size() || (index + 1) * size_ > values_.size())
      throw Error(Code::bad_tensor, "sparse tensor '" + tensor_.name + "' has an element outside its shape");
    std::memcpy(dense_.data() + offset * size_, values_.data() + index * size_, size_);
  }

  const tfl::Tensor& tensor_;
  const tfl::Sparsity& sparsity_;
  std::size_t size_;
  const Bytes& values_;
  std::vector<std::int64_t> blocks_;
  std::vector<std::uint64_t> strides_;
  std::vector<std::int64_t> position_;
  std::vector<std::byte> dense_;
};

}  // namespace

Bytes densified(const tfl::Tensor& tensor, const Bytes& values) {
  const auto bits = tfl::element_bits(tensor.type);
  if (!bits || *bits % 8)
    throw Error(Code::unsupported_setting, "sparse tensor '" + tensor.name + "' has elements that are not whole bytes");
  return Expansion(tensor, *bits / 8, values).run();
}

std::optional<Tensor> constant_tensor(const tfl::Model& model, const tfl::Tensor& tensor) {
  Bytes data = tfl::constant_data(model, tensor);
  const DType dtype = dtype_for(tensor.type);
  if (dtype == DType::undefined) return std::nullopt;
  if (tensor.type == tfl::TensorType::STRING) {
    if (data.empty()) return std::nullopt;
    std::vector<std::string> texts;
    for (const std::string_view text : tfl::string_elements(data)) texts.emplace_back(text);
    return Tensor::of_strings(tensor.shape, std::move(texts));
  }
  const auto size = tfl::dense_size(tensor);
  if (!size || (data.empty() && *size != 0)) return std::nullopt;
  if (tensor.sparsity && !tensor.sparsity->dim_metadata.empty()) data = densified(tensor, data);
  if (tensor.type == tfl::TensorType::INT2) return in_whole_bytes(Tensor(DType::i2, tensor.shape, data));
  return Tensor(dtype, tensor.shape, data);
}

Tensor in_whole_bytes(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  if (!is_sub_byte(dtype) || is_float(dtype)) return tensor;
  const bool is_signed = is_signed_integer(dtype);
  std::vector<std::byte> bytes;
  for (const double v : tensor.to_doubles()) bytes.push_back(static_cast<std::byte>(static_cast<int>(v)));
  return Tensor(is_signed ? DType::i8 : DType::u8, tensor.dims(), Bytes::own(std::move(bytes)));
}

Tensor transposed_constant(const Tensor& tensor, const std::vector<std::int64_t>& perm) {
  if (perm.size() != tensor.dims().size())
    throw Error(Code::bad_source_graph, "a constant does not have the rank that its operator needs");
  return transposed(in_whole_bytes(tensor), perm);
}

Tensor float_tensor(const Dims& dims, const std::vector<double>& values) {
  std::vector<float> floats;
  floats.reserve(values.size());
  for (const double v : values) floats.push_back(static_cast<float>(v));
  return Tensor::of<float>(dims, floats);
}

Tensor dequantized(const Tensor& tensor, const std::vector<float>& scale, const std::vector<std::int64_t>& zero_point,
                   std::size_t axis) {
  std::vector<double> values = tensor.to_doubles();
  std::uint64_t inner = 1;
  for (std::size_t i = axis + 1; i < tensor.dims().size(); ++i) inner *= static_cast<std::uint64_t>(tensor.dims()[i]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = scale.size() > 1 ? i / inner % scale.size() : 0;
    const auto zero = zero_point.empty() ? 0 : zero_point[zero_point.size() > 1 ? c : 0];
    values[i] = static_cast<double>(scale[c]) * (values[i] - static_cast<double>(zero));
  }
  return float_tensor(tensor.dims(), values);
}

Tensor dequantized_blocks(const Tensor& tensor, const Tensor& scales, const std::optional<Tensor>& zeros,
                          std::int64_t block) {
  const std::int64_t depth = tensor.dims().empty() ? 1 : tensor.dims().back();
  const auto fits = [&](const Tensor& t) { return t.size() == tensor.size() / block; };
  if (block < 1 || depth % block != 0 || !fits(scales) || (zeros && !fits(*zeros)))
    throw Error(Code::bad_source_graph, "the scales of a tensor do not fit its blocks");
  std::vector<double> values = tensor.to_doubles();
  const std::vector<double> factors = scales.to_doubles(),
                            offsets = zeros ? zeros->to_doubles() : std::vector<double>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t at = i / static_cast<std::size_t>(block);
    values[i] = factors[at] * (values[i] - (zeros ? offsets[at] : 0));
  }
  return float_tensor(tensor.dims(), values);
}

}  // namespace ingot::frontends::tflite
