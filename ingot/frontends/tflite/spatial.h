#pragma once
#include "ingot/frontends/tflite/op.h"

namespace ingot::frontends::tflite {

/// From channels-last, as TFLite has images and volumes, to channels-first, as ONNX has them, and back.
Value* channels_first(GraphBuilder& b, Value* x);
Value* channels_last(GraphBuilder& b, Value* x);

/// An input as real numbers, channels first. Integers are transposed before they are dequantised: fewer bytes move, and
/// runtimes see the quantised operator between its neighbours.
Value* spatial_input(Op& op, std::size_t i);
/// Sets output 0 from real numbers, channels first.
void set_spatial(Op& op, Value* y);

/// How a window moves over the spatial dimensions, outermost first.
struct Window {
  Ints kernel, strides, dilations;
  bool is_same = false;  ///< padding SAME, else VALID

  Attrs attrs(bool with_kernel) const;
  /// Adds the padding that SAME means for a channels-first input: as numbers if its sizes are known.
  void pad(Attrs& attrs, const Value* x) const;
};

/// Strides and padding of a 2-D operator's options, dilations where it has them.
Window window_2d(const Op& op, Ints kernel);

}  // namespace ingot::frontends::tflite
