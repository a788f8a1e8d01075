// Layouts and windows: what convolutions and poolings share.
#include "ingot/frontends/tflite/spatial.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/frontends/channels_last.h"

namespace ingot::frontends::tflite {

namespace {

std::size_t image_rank(const Value* x) {
  if (!x->type.shape) return 4;
  if (x->type.shape->size() < 3) throw Error(Code::bad_source_graph, "'" + x->name() + "' is no image");
  return x->type.shape->size();
}

}  // namespace

Value* channels_first(GraphBuilder& b, Value* x) { return frontends::channels_first(b, x, image_rank(x)); }

Value* channels_last(GraphBuilder& b, Value* x) { return frontends::channels_last(b, x, image_rank(x)); }

Value* spatial_input(Op& op, std::size_t i) {
  return op.real_moved(i, [&](Value* x) { return channels_first(op.b, x); });
}

void set_spatial(Op& op, Value* y) {
  if (!op.frame.is_quantized(op.out_tensor())) return op.set_real(0, channels_last(op.b, y));
  Value* integers = op.frame.quantize(y, op.out_tensor());
  op.set(0, channels_last(op.b, integers));
}

Window window_2d(const Op& op, Ints kernel) {
  Window w;
  w.kernel = std::move(kernel);
  w.strides = {op.options.get_int("stride_h"), op.options.get_int("stride_w")};
  if (op.options.has("dilation_h_factor"))
    w.dilations = {op.options.get_int("dilation_h_factor"), op.options.get_int("dilation_w_factor")};
  w.is_same = op.options.get_enum<tfl::Padding>("padding") == tfl::Padding::SAME;
  op.require(std::ranges::all_of(w.strides, [](std::int64_t s) { return s > 0; }), "strides must be positive");
  op.require(std::ranges::all_of(w.dilations, [](std::int64_t d) { return d > 0; }), "dilations must be positive");
  return w;
}

}  // namespace ingot::frontends::tflite
