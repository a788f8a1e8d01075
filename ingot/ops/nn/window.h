#pragma once
#include <utility>
#include <vector>

#include "ingot/ir/attribute.h"

namespace ingot::ops {

/// How a kernel slides over the spatial axes of a convolution or pool: read from the attributes and checked once, for
/// inference, kernels and gradients alike.
struct Window {
  enum class AutoPad { notset, valid, same_upper, same_lower };

  std::vector<Dim> kernel;
  std::vector<std::int64_t> strides, dilations;
  std::vector<std::int64_t> pads;  // those at the beginning of each axis, then those at the end
  AutoPad auto_pad = AutoPad::notset;
  bool ceil_mode = false;

  /// `weights`: the kernel's sizes where it is an input; null: attribute kernel_shape must say them. Throws Error for
  /// attributes that do not fit the number of spatial axes or are out of range.
  static Window read(const Attributes& attributes, std::size_t rank, const Shape* weights = nullptr);

  /// Whether the sizes depend on attributes of a function around the node, which only its call knows.
  static bool is_open(const Attributes& attributes);

  std::size_t rank() const { return kernel.size(); }
  bool is_same() const { return auto_pad == AutoPad::same_upper || auto_pad == AutoPad::same_lower; }
  /// How far the dilated kernel reaches along axis i.
  Dim extent(std::size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  /// How often the kernel fits along axis i; throws Error when it provably does not fit at all.
  Dim output_size(std::size_t i, const Dim& input) const;
  /// The padding at the beginning and end of axis i.
  std::pair<Dim, Dim> padding(std::size_t i, const Dim& input) const;
  /// The opposite direction (ConvTranspose, MaxUnpool): the input size that explicit padding leaves of this output
  /// size.
  Dim transposed_size(std::size_t i, const Dim& input) const;
};

}  // namespace ingot::ops
