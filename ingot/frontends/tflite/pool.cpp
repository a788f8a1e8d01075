// Poolings.
#include <cstring>

#include "ingot/frontends/tflite/spatial.h"
#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

Window pool_window(const Op& op) {
  return window_2d(op, {op.options.get_int("filter_height"), op.options.get_int("filter_width")});
}

bool is_byte(DType dtype) { return dtype == DType::i8 || dtype == DType::u8; }

}  // namespace

void max_pool_2d(Op& op) {
  const Window window = pool_window(op);
  const auto activation = op.options.get_enum<tfl::ActivationFunctionType>("fused_activation_function");
  // The largest integer is the largest number: no need to leave the integers.
  const bool stays = op.is_quantized(0) && op.alike(op.tensor(0), op.out_tensor()) && is_byte(op.out_dtype()) &&
                     activation == tfl::ActivationFunctionType::NONE;
  Value* x = stays ? channels_first(op.b, op.stored(0)) : spatial_input(op, 0);
  Attrs attrs = window.attrs(true);
  window.pad(attrs, x);
  Value* y = op.b.op("MaxPool", {x}, attrs);
  if (stays) return op.set(0, channels_last(op.b, y));
  y = op.activated(y);
  set_spatial(op, y);
}

void average_pool_2d(Op& op) {
  const Window window = pool_window(op);
  Value* x = spatial_input(op, 0);
  Attrs attrs = window.attrs(true);
  window.pad(attrs, x);
  Value* y = op.b.op("AveragePool", {x}, attrs);
  y = op.activated(y);
  set_spatial(op, y);
}

void l2_pool_2d(Op& op) {
  const Window window = pool_window(op);
  Value* x = spatial_input(op, 0);
  Value* squares = op.b.mul(x, x);
  Attrs attrs = window.attrs(true);
  window.pad(attrs, x);
  Value* mean = op.b.op("AveragePool", {squares}, attrs);
  Value* y = op.b.op("Sqrt", {mean});
  y = op.activated(y);
  set_spatial(op, y);
}

namespace {

/// MediaPipe's poolings carry a C struct: padding (1 SAME, 2 VALID), strides, filter sizes, activation.
Window struct_window(const Op& op) {
  const std::string_view raw = op.source.custom_options.text();
  op.require(raw.size() >= 20, "the custom options are too short");
  const auto number = [&](std::size_t i) {
    std::int32_t value = 0;
    std::memcpy(&value, raw.data() + 4 * i, 4);
    return std::int64_t{value};
  };
  Window window;
  window.is_same = number(0) == 1;
  window.strides = {number(2), number(1)};
  window.kernel = {number(4), number(3)};
  for (std::size_t i = 0; i < 2; ++i)
    op.require(window.strides[i] > 0 && window.kernel[i] > 0, "strides and sizes must be positive");
  return window;
}

}  // namespace

void max_pool_with_argmax(Op& op) {
  // The second output counts, within each image, the elements in NHWC order, as float.
  const Window window = struct_window(op);
  Value* x = spatial_input(op, 0);
  op.require(x->type.shape && x->type.shape->size() == 4, "the rank of the input must be known");
  const auto height = (*x->type.shape)[2].as_int(), width = (*x->type.shape)[3].as_int();
  const auto channels = (*x->type.shape)[1].as_int();
  op.require(height && width && channels, "the sizes of the input must be known");
  op.require(*channels <= std::int64_t{1} << 24 && *height < std::int64_t{1} << 31 && *width < std::int64_t{1} << 31,
             "the input is too large");
  Attrs attrs = window.attrs(true);
  window.pad(attrs, x);
  const Values pooled = op.b.op("MaxPool", {x}, attrs, 2);
  Value* maxima = channels_last(op.b, pooled[0]);
  // ONNX counts through images and channels in NCHW order: the position within a channel is what is left.
  Value* plane = op.b.scalar(static_cast<double>(*height * *width), DType::i64);
  Value* position = op.b.op("Mod", {pooled[1], plane});
  Value* scaled = op.b.mul(position, static_cast<double>(*channels));
  std::vector<std::int64_t> numbers;
  for (std::int64_t c = 0; c < *channels; ++c) numbers.push_back(c);
  Value* channel = op.b.constant(Tensor::of<std::int64_t>({1, *channels, 1, 1}, numbers));
  Value* index = op.b.add(scaled, channel);
  index = channels_last(op.b, index);
  op.set_real(0, maxima);
  op.set(1, op.b.cast(index, op.out_dtype(1)));
}

void max_unpool(Op& op) {
  const Window window = struct_window(op);
  Value* x = op.real(0);
  const auto dims = static_dims(x->type.shape);
  op.require(dims && dims->size() == 4, "the sizes of the input must be known");
  Ints out = *dims;
  for (std::size_t i = 0; i < 2; ++i)
    out[i + 1] =
        window.is_same ? out[i + 1] * window.strides[i] : (out[i + 1] - 1) * window.strides[i] + window.kernel[i];
  Value* indices = op.b.cast(op.stored(1), DType::i64);
  Value* flat_indices = op.b.reshape(indices, {(*dims)[0], -1});
  Value* flat = op.b.reshape(x, {(*dims)[0], -1});
  Value* shape = op.b.ints({out[0], out[1] * out[2] * out[3]});
  Value* zeros = op.b.op("ConstantOfShape", {shape}, {{"value", Tensor::of<float>({1}, {0.0F})}});
  Value* spread = op.b.op("ScatterElements", {zeros, flat_indices, flat}, {{"axis", 1}});
  op.set_real(0, op.b.reshape(spread, out));
}

}  // namespace ingot::frontends::tflite
