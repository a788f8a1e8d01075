// Layouts and windows: what convolutions and poolings share.
#include "ingot/frontends/tflite/spatial.h"

#include <algorithm>

namespace ingot::frontends::tflite {

Value* channels_first(GraphBuilder& b, Value* x) {
  const std::size_t rank = x->type.shape ? x->type.shape->size() : 4;
  Ints perm{0, static_cast<std::int64_t>(rank) - 1};
  for (std::int64_t i = 1; i + 1 < static_cast<std::int64_t>(rank); ++i) perm.push_back(i);
  return b.transpose(x, perm);
}

Value* channels_last(GraphBuilder& b, Value* x) {
  const std::size_t rank = x->type.shape ? x->type.shape->size() : 4;
  Ints perm{0};
  for (std::int64_t i = 2; i < static_cast<std::int64_t>(rank); ++i) perm.push_back(i);
  perm.push_back(1);
  return b.transpose(x, perm);
}

Value* spatial_input(Op& op, std::size_t i) {
  return op.real_moved(i, [&](Value* x) { return channels_first(op.b, x); });
}

void set_spatial(Op& op, Value* y) {
  if (!op.frame.is_quantized(op.out_tensor())) return op.set_real(0, channels_last(op.b, y));
  Value* integers = op.frame.quantize(y, op.out_tensor());
  op.set(0, channels_last(op.b, integers));
}

Attrs Window::attrs(bool with_kernel) const {
  Attrs attrs;
  if (with_kernel) attrs.emplace_back("kernel_shape", kernel);
  if (std::ranges::any_of(strides, [](std::int64_t s) { return s != 1; })) attrs.emplace_back("strides", strides);
  if (std::ranges::any_of(dilations, [](std::int64_t d) { return d != 1; })) attrs.emplace_back("dilations", dilations);
  return attrs;
}

void Window::pad(Attrs& attrs, const Value* x) const {
  if (!is_same) return;
  const std::size_t count = kernel.size();
  Ints pads(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto size =
        x->type.shape && x->type.shape->size() == count + 2 ? (*x->type.shape)[i + 2].as_int() : std::nullopt;
    const std::int64_t extent = (kernel[i] - 1) * (dilations.empty() ? 1 : dilations[i]) + 1;
    if (!size && extent > 1) {
      attrs.emplace_back("auto_pad", "SAME_UPPER");
      return;
    }
    const std::int64_t in = size.value_or(1);
    const std::int64_t out = (in + strides[i] - 1) / strides[i];
    const std::int64_t total = std::max<std::int64_t>((out - 1) * strides[i] + extent - in, 0);
    pads[i] = total / 2;
    pads[count + i] = total - total / 2;
  }
  if (std::ranges::any_of(pads, [](std::int64_t p) { return p != 0; })) attrs.emplace_back("pads", pads);
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
