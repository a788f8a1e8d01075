#pragma once
#include "ingot/backends/torch/script.h"

namespace ingot::backends::torch {

/// How a window moves over the spatial axes, in PyTorch's words.
struct Slide {
  Ints kernel, strides, dilations, before, after;
  bool ceil_mode = false;

  std::size_t rank() const { return kernel.size(); }
  bool is_even() const { return before == after; }
  /// PyTorch pads a pool alike at both ends, and by at most half of its window.
  bool may_pad() const;
};

/// Of a node that was not refused.
Slide slide_of(const Node& node, bool has_weights);
/// The input with its ends padded.
std::string padded(const std::string& x, const Slide& w, const std::string& value);
/// How much of a batch's statistics enters the running ones.
std::string momentum_of(const Node& node);
/// "conv2d"
std::string sized(std::string_view name, std::size_t spatial);

}  // namespace ingot::backends::torch
