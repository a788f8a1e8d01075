#pragma once
#include "ingot/ops/gradient.h"
#include "ingot/ops/nn/window.h"

namespace ingot::ops {

/// A convolution y = x * w as its gradients see it. Spatial sizes may be unknown until it runs.
struct ConvGeometry {
  Window window;
  std::int64_t group = 1;
  /// The padding before each axis; null: `begins` has it when it runs.
  std::optional<std::vector<std::int64_t>> known_begins;
  Value* begins = nullptr;  // int64, one per spatial axis

  /// Of a convolution from x to y with kernel w.
  static ConvGeometry read(GradContext& c, Value* x, Value* y, Value* w);
};

/// d loss / d x, in the shape of x, of a convolution with kernel w [M, C/group, ...]. Where windows reach beyond x,
/// what arrives there is lost.
Value* conv_input_gradient(GradContext& c, const ConvGeometry& conv, Value* dy, Value* w, Value* x);
/// d loss / d w, in the shape of w.
Value* conv_kernel_gradient(GradContext& c, const ConvGeometry& conv, Value* dy, Value* x, Value* w);
/// x with padding such that the windows begin where the convolution's do and end with the last of `windows` of them.
Value* fitted(GradContext& c, const ConvGeometry& conv, Value* x, Value* windows, Value* w);

}  // namespace ingot::ops
