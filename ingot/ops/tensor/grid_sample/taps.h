#pragma once
#include <array>

#include "ingot/ops/kernel.h"

namespace ingot::ops {

/// The rows of pixels next to a place along one axis; -1: none, which counts as 0.
struct GridTaps {
  int count = 0;
  std::array<std::int64_t, 4> index{};
  std::array<double, 4> weight{};
};

/// How GridSample's attributes say an image is read between its pixels.
class Sampler {
 public:
  explicit Sampler(const KernelContext& c);

  bool is_nearest() const { return filter_ == Filter::nearest; }
  /// How many pixels of each axis a sample is made of.
  int taps_per_axis() const { return filter_ == Filter::nearest ? 1 : filter_ == Filter::linear ? 2 : 4; }
  /// Around a coordinate, from -1 to 1 over the axis.
  GridTaps taps(double coordinate, std::int64_t size) const;

 private:
  enum class Padding { zeros, border, reflection };
  enum class Filter { nearest, linear, cubic };

  double low() const { return aligns_ ? 0 : -0.5; }
  double high(std::int64_t size) const { return static_cast<double>(size) - (aligns_ ? 1 : 0.5); }
  double reflected(double x, std::int64_t size) const;
  std::int64_t pixel(std::int64_t i, std::int64_t size) const;

  Filter filter_;
  Padding padding_;
  bool aligns_;
};

/// The dimensions of the result; refuses images and grids that do not fit each other.
Dims sampled_dims(const KernelContext& c, const Dims& x, const Dims& grid);

}  // namespace ingot::ops
