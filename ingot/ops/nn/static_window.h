#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace ingot::ops {

/// Elements added before and after an axis.
struct Padding {
  std::int64_t before = 0, after = 0;
  friend bool operator==(const Padding&, const Padding&) = default;
};

/// So many elements in all, the odd one behind (SAME_UPPER) or in front (SAME_LOWER); none if `total` is negative.
constexpr Padding split_padding(std::int64_t total, bool is_upper = true) {
  const std::int64_t all = std::max<std::int64_t>(total, 0), half = all / 2;
  return is_upper ? Padding{half, all - half} : Padding{all - half, half};
}

/// What SAME adds to an axis of this size: a window of `extent` elements then fits ceil(size / stride) times.
constexpr Padding same_padding(std::int64_t size, std::int64_t extent, std::int64_t stride, bool is_upper = true) {
  const std::int64_t windows = (size + stride - 1) / stride;
  return split_padding((windows - 1) * stride + extent - size, is_upper);
}

/// How a window whose sizes are numbers moves over the spatial axes, outermost first. `Window` is the same with sizes
/// that may be symbols, as a node states them.
struct StaticWindow {
  std::vector<std::int64_t> kernel, strides, dilations;  // dilations may be empty: none

  std::size_t rank() const { return kernel.size(); }
  /// How far the dilated window reaches along axis i.
  std::int64_t extent(std::size_t i) const { return (kernel[i] - 1) * (dilations.empty() ? 1 : dilations[i]) + 1; }
  /// What SAME adds to axis i of this size.
  Padding same(std::size_t i, std::int64_t size, bool is_upper = true) const {
    return same_padding(size, extent(i), strides[i], is_upper);
  }
};

}  // namespace ingot::ops
