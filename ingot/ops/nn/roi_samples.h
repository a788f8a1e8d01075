#pragma once
#include <algorithm>
#include <cmath>

#include "ingot/base/checked.h"
#include "ingot/ops/kernel.h"

// Where RoiAlign reads an image.

namespace ingot::ops {

/// What RoiAlign's attributes say; refuses those that are out of range.
struct RoiAlignment {
  explicit RoiAlignment(const KernelContext& c)
      : height(c.attr("output_height", std::int64_t{1})),
        width(c.attr("output_width", std::int64_t{1})),
        ratio(c.attr("sampling_ratio", std::int64_t{0})),
        scale(c.attr("spatial_scale", 1.0f)) {
    const std::string mode = c.attr("mode", "avg"), grid = c.attr("coordinate_transformation_mode", "half_pixel");
    if (height < 1 || width < 1 || ratio < 0) c.fail("output_height, output_width or sampling_ratio is out of range");
    if (mode != "avg" && mode != "max") c.fail("attribute 'mode' is '" + mode + "'");
    if (grid != "half_pixel" && grid != "output_half_pixel")
      c.fail("attribute 'coordinate_transformation_mode' is '" + grid + "'");
    is_half = grid == "half_pixel";
    is_max = mode == "max";
  }

  std::int64_t height, width;  // bins
  std::int64_t ratio;          // samples of a bin along an axis; 0: by its size
  float scale;
  bool is_half = true, is_max = false;
};

/// A place between elements along one axis: the two around it and how near the second is.
template <class T> struct Between {
  std::int64_t low = 0, high = 0;
  T part = 0;
  bool is_outside = true;

  Between(T at, std::int64_t size) {
    if (!(at >= -1 && at <= static_cast<T>(size)) || size == 0) return;
    is_outside = false;
    at = std::max(at, T{0});
    low = std::min(static_cast<std::int64_t>(at), size - 1);
    high = std::min(low + 1, size - 1);
    part = low == high ? T{0} : at - static_cast<T>(low);
  }
};

/// The samples of a region, [left, top, right, bottom].
template <class T> struct AlignedRegion {
  struct Axis {
    T first, bin;
    std::int64_t samples;  // of a bin
    T place(std::int64_t i, std::int64_t sample) const {
      return first + (static_cast<T>(i) + (static_cast<T>(sample) + T{0.5}) / static_cast<T>(samples)) * bin;
    }
  };
  Axis down, across;

  AlignedRegion(const RoiAlignment& how, const T* roi)
      : down(axis(how, roi[1], roi[3], how.height)), across(axis(how, roi[0], roi[2], how.width)) {}

  double sample_count() const {
    return std::max(static_cast<double>(down.samples) * static_cast<double>(across.samples), 1.0);
  }

 private:
  static Axis axis(const RoiAlignment& how, T begin, T end, std::int64_t bins) {
    const T scale = static_cast<T>(how.scale), shift = how.is_half ? T{0.5} : T{0};
    const T first = begin * scale - shift;
    T spread = end * scale - shift - first;
    if (!how.is_half) spread = std::max(spread, T{1});
    const T bin = spread / static_cast<T>(bins);
    return {first, bin, how.ratio ? how.ratio : saturate_cast<std::int64_t>(std::ceil(bin))};
  }
};

}  // namespace ingot::ops
