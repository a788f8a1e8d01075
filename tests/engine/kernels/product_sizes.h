#pragma once
#include <cstdint>
#include <random>
#include <vector>

namespace ingot::engine {

struct Sizes {
  std::int64_t rows, depth, columns;
};

/// From -1 to 1, the same for the same seed.
inline std::vector<float> random_floats(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = number(generator);
  return values;
}

}  // namespace ingot::engine
