#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ingot/ops/kernel.h"

namespace ingot::ops {

/// The attributes of Resize that say where a pixel comes from and what lies between pixels.
struct ResizeMode {
  explicit ResizeMode(const KernelContext& c);

  enum class Filter { nearest, linear, cubic };
  Filter filter = Filter::nearest;
  std::string coordinates, rounding;
  double cubic_coefficient;
  bool antialias, exclude_outside;

  bool crops() const { return coordinates == "tf_crop_and_resize"; }
};

/// One axis to be resized.
struct ResizedAxis {
  std::int64_t from = 0, to = 0;  // sizes
  double scale = 1;
  double roi_start = 0, roi_end = 1;

  bool is_same() const { return from == to && scale == 1 && roi_start == 0 && roi_end == 1; }
  /// Where a position of the result lies in the source.
  double source(const ResizeMode& mode, std::int64_t position) const;
  /// Only crops have places outside.
  bool is_outside(const ResizeMode& mode, double place) const;
  /// The pixel next to a place, within the source.
  std::int64_t nearest(const ResizeMode& mode, double place) const;

 private:
  double unscaled(double x) const;
};

/// The pixels around a place and what each adds: from `first` on, to be clamped to the source.
struct Taps {
  std::int64_t first = 0;
  std::vector<double> weights;
};
Taps taps_around(const ResizeMode& mode, const ResizedAxis& axis, double place);

}  // namespace ingot::ops
