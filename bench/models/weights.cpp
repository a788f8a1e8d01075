// Random weights for models that are only measured.
#include <cmath>

#include "bench/models/models.h"

namespace ingot::bench {
namespace {

/// splitmix64: the same numbers on every machine.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

Value* Weights::uniform(Dims dims, float low, float high) {
  std::vector<float> values(static_cast<std::size_t>(tensor_size(dims)));
  for (float& value : values) value = low + (high - low) * (static_cast<float>(next(state_) >> 40) / 16777216.0f);
  return g_.constant(Tensor::of<float>(std::move(dims), values));
}

Value* Weights::weight(Dims dims, std::int64_t fan_in) {
  const float bound = std::sqrt(3.0f / static_cast<float>(fan_in));
  return uniform(std::move(dims), -bound, bound);
}

}  // namespace ingot::bench
