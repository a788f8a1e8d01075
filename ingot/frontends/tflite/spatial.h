#pragma once
#include "ingot/frontends/tflite/op.h"

namespace ingot::frontends::tflite {

/// From channels-last, as TFLite has images and volumes, to channels-first, as ONNX has them, and back.
Value* channels_first(GraphBuilder& b, Value* x);
Value* channels_last(GraphBuilder& b, Value* x);

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
