#pragma once
#include "ingot/frontends/tflite/op.h"
#include "ingot/frontends/window.h"

namespace ingot::frontends::tflite {

/// From channels-last, as TFLite has images and volumes, to channels-first, as ONNX has them, and back. What has no
/// known rank is an image.
Value* channels_first(GraphBuilder& b, Value* x);
Value* channels_last(GraphBuilder& b, Value* x);

/// An input as real numbers, channels first. Integers are transposed before they are dequantised: fewer bytes move, and
/// runtimes see the quantised operator between its neighbours.
Value* spatial_input(Op& op, std::size_t i);
/// Sets output 0 from real numbers, channels first.
void set_spatial(Op& op, Value* y);

/// Strides and padding of a 2-D operator's options, dilations where it has them.
Window window_2d(const Op& op, Ints kernel);

}  // namespace ingot::frontends::tflite
