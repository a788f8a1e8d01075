#pragma once
#include <random>
#include <vector>

#include "ingot/ir/tensor.h"

namespace ingot::engine {

/// Numbers and tensors, the same for the same seed.
class Random {
 public:
  explicit Random(unsigned seed) : generator_(seed) {}

  std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(generator_); }
  Tensor floats(Dims dims, float low = -1, float high = 1) {
    std::vector<float> values(static_cast<std::size_t>(tensor_size(dims)));
    for (float& value : values) value = std::uniform_real_distribution<float>(low, high)(generator_);
    return Tensor::of<float>(std::move(dims), values);
  }
  /// Of type u8 or i8.
  Tensor bytes(DType type, Dims dims) {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(tensor_size(dims)));
    for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(below(256));
    if (type == DType::u8) return Tensor::of<std::uint8_t>(std::move(dims), values);
    return Tensor::of<std::int8_t>(std::move(dims), std::vector<std::int8_t>(values.begin(), values.end()));
  }

 private:
  std::mt19937 generator_;
};

}  // namespace ingot::engine
