// Which pixels GridSample reads around a place along one axis, and what they weigh.
#include "ingot/ops/tensor/grid_sample/taps.h"

#include <algorithm>
#include <cmath>

#include "ingot/base/checked.h"

namespace ingot::ops {
namespace {

/// Keys' cubic convolution with a = -0.75.
double cubic(double x) {
  constexpr double a = -0.75;
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

}  // namespace

Sampler::Sampler(const KernelContext& c) : aligns_(c.attr("align_corners", std::int64_t{0}) != 0) {
  const std::string mode = c.attr("mode", "linear"), padding = c.attr("padding_mode", "zeros");
  if (mode != "nearest" && mode != "linear" && mode != "cubic") c.fail("mode '" + mode + "' is not known");
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    c.fail("padding mode '" + padding + "' is not known");
  filter_ = mode == "nearest" ? Filter::nearest : mode == "linear" ? Filter::linear : Filter::cubic;
  padding_ = padding == "zeros" ? Padding::zeros : padding == "border" ? Padding::border : Padding::reflection;
}

GridTaps Sampler::taps(double coordinate, std::int64_t size) const {
  const auto length = static_cast<double>(size);
  double x = aligns_ ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2;
  if (filter_ == Filter::nearest) x = std::nearbyint(x);
  if (x < low() || x > high(size)) {
    if (padding_ == Padding::border) x = std::clamp(x, 0.0, length - 1);
    if (padding_ == Padding::reflection) x = reflected(x, size);
  }
  const double below = std::floor(x), ratio = x - below;
  const auto first = saturate_cast<std::int64_t>(std::clamp(below, -9e15, 9e15));
  GridTaps taps;
  const auto add = [&](std::int64_t offset, double weight) {
    const auto at = static_cast<std::size_t>(taps.count++);
    taps.index[at] = pixel(first + offset, size);
    taps.weight[at] = weight;
  };
  if (filter_ == Filter::nearest) {
    add(0, 1);
  } else if (filter_ == Filter::linear) {
    add(0, 1 - ratio);
    add(1, ratio);
  } else {
    for (std::int64_t k = -1; k <= 2; ++k) add(k, cubic(static_cast<double>(k) - ratio));
  }
  return taps;
}

double Sampler::reflected(double x, std::int64_t size) const {
  const double least = low(), range = high(size) - least;
  if (range == 0) return least;
  double phase = std::fmod(x - least, 2 * range);
  if (phase < 0) phase += 2 * range;
  return least + (phase <= range ? phase : 2 * range - phase);
}

std::int64_t Sampler::pixel(std::int64_t i, std::int64_t size) const {
  if (i >= 0 && i < size) return i;
  if (padding_ == Padding::zeros) return -1;
  if (padding_ == Padding::reflection)
    i = saturate_cast<std::int64_t>(std::nearbyint(reflected(static_cast<double>(i), size)));
  return std::clamp<std::int64_t>(i, 0, size - 1);
}

Dims sampled_dims(const KernelContext& c, const Dims& x, const Dims& grid) {
  if (x.size() < 3 || grid.size() != x.size()) c.fail("image and grid do not have the same rank of at least 3");
  constexpr std::size_t kMostAxes = 8;
  if (x.size() - 2 > kMostAxes) c.fail("more than " + std::to_string(kMostAxes) + " axes cannot be sampled");
  if (grid.back() != std::ssize(x) - 2 || grid.front() != x.front()) c.fail("image and grid do not fit each other");
  Dims dims = {x[0], x[1]};
  dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
  return dims;
}

}  // namespace ingot::ops
