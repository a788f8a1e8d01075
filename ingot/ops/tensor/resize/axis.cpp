// The arithmetic of Resize along one axis: where pixels come from and how their neighbours are weighted.
#include "ingot/ops/tensor/resize/axis.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ingot/base/checked.h"

namespace ingot::ops {
namespace {

template <class List> void expect(const KernelContext& c, const char* name, const std::string& value, List known) {
  if (std::ranges::find(known, value) == known.end())
    c.fail("attribute '" + std::string(name) + "' is '" + value + "', which is not known");
}

double linear(double x) { return std::max(0.0, 1 - std::abs(x)); }

/// Keys' cubic convolution.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

}  // namespace

ResizeMode::ResizeMode(const KernelContext& c)
    : coordinates(c.attr("coordinate_transformation_mode", "half_pixel")),
      rounding(c.attr("nearest_mode", "round_prefer_floor")),
      cubic_coefficient(static_cast<double>(c.attr("cubic_coeff_a", -0.75f))),
      antialias(c.attr("antialias", std::int64_t{0}) != 0),
      exclude_outside(c.attr("exclude_outside", std::int64_t{0}) != 0) {
  const std::string mode = c.attr("mode", "nearest");
  using Names = std::vector<std::string>;
  expect(c, "mode", mode, Names{"nearest", "linear", "cubic"});
  expect(c, "coordinate_transformation_mode", coordinates,
         Names{"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
               "tf_crop_and_resize"});
  expect(c, "nearest_mode", rounding, Names{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  filter = mode == "nearest" ? Filter::nearest : mode == "linear" ? Filter::linear : Filter::cubic;
}

/// x / scale, of which the nearest pixel is taken: exact where sizes say the scale. One that is stored as a float means
/// the decimal number that was written (0.4), which division in float gives back, as all runtimes do it.
double ResizedAxis::unscaled(double x) const {
  const auto size = static_cast<double>(from), resized = static_cast<double>(to);
  if (scale == resized / size) return x * size / resized;
  return static_cast<double>(static_cast<float>(x) / static_cast<float>(scale));
}

double ResizedAxis::source(const ResizeMode& mode, std::int64_t position) const {
  const auto x = static_cast<double>(position), size = static_cast<double>(from);
  const double resized = scale * size;  // not yet rounded to pixels
  if (mode.coordinates == "align_corners") return resized == 1 ? 0 : x * (size - 1) / (resized - 1);
  const auto over_scale = [&](double y) {
    return mode.filter == ResizeMode::Filter::nearest ? unscaled(y) : y / scale;
  };
  if (mode.coordinates == "asymmetric") return over_scale(x);
  if (mode.crops()) {
    const double length = (roi_end - roi_start) * (size - 1);
    return roi_start * (size - 1) + (resized == 1 ? length / 2 : x * length / (resized - 1));
  }
  const double half_pixel = over_scale(x + 0.5) - 0.5;
  if (mode.coordinates == "pytorch_half_pixel") return resized > 1 ? half_pixel : 0;
  if (mode.coordinates == "half_pixel_symmetric")
    return half_pixel + size / 2 * (1 - static_cast<double>(to) / resized);
  return half_pixel;
}

bool ResizedAxis::is_outside(const ResizeMode& mode, double place) const {
  return mode.crops() && !(place >= 0 && place <= static_cast<double>(from - 1));
}

std::int64_t ResizedAxis::nearest(const ResizeMode& mode, double place) const {
  const double below = std::floor(place), ratio = place - below;
  bool up = false;
  if (ratio > 0) {
    up = mode.rounding == "ceil" || (mode.rounding == "round_prefer_floor" && ratio > 0.5) ||
         (mode.rounding == "round_prefer_ceil" && ratio >= 0.5);
  }
  return std::clamp<std::int64_t>(saturate_cast<std::int64_t>(up ? below + 1 : below), 0, from - 1);
}

Taps taps_around(const ResizeMode& mode, const ResizedAxis& axis, double place) {
  const bool is_cubic = mode.filter == ResizeMode::Filter::cubic;
  // Where pixels get fewer, an antialiasing filter is as much wider.
  const double stretch = mode.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const auto half = saturate_cast<std::int64_t>(std::ceil((is_cubic ? 2 : 1) / stretch));
  const double limited = std::clamp(place, -4.0 * static_cast<double>(half), 9e15);
  const double above = std::ceil(limited);
  const double ratio = limited - (above - 1);  // in (0, 1]
  Taps taps;
  taps.first = saturate_cast<std::int64_t>(above) - half;
  for (std::int64_t k = 1 - half; k <= half; ++k) {
    const double x = (static_cast<double>(k) - ratio) * stretch;
    taps.weights.push_back(is_cubic ? cubic(x, mode.cubic_coefficient) : linear(x));
  }
  if (mode.exclude_outside)
    for (std::size_t k = 0; k < taps.weights.size(); ++k)
      if (const std::int64_t at = taps.first + static_cast<std::int64_t>(k); at < 0 || at >= axis.from)
        taps.weights[k] = 0;
  const double sum = std::accumulate(taps.weights.begin(), taps.weights.end(), 0.0);
  if (mode.antialias || mode.exclude_outside)
    for (double& w : taps.weights) w /= sum;
  return taps;
}

}  // namespace ingot::ops
