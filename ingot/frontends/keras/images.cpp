// Preparation of images.
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

struct Frame {
  std::int64_t height_axis = 1, width_axis = 2, rank = 4;
};

Frame frame_of(const Call& call) {
  const std::int64_t rank = call.rank();
  call.require(rank == 3 || rank == 4, "the input is no image");
  const std::int64_t first = rank - 3 + (call.is_channels_first() ? 1 : 0);
  return {first, first + 1, rank};
}

Attrs interpolation(const Call& call, const std::string& how) {
  if (how == "nearest")
    return {
        {"mode", "nearest"}, {"coordinate_transformation_mode", "half_pixel"}, {"nearest_mode", "round_prefer_ceil"}};
  if (how == "bilinear") return {{"mode", "linear"}, {"coordinate_transformation_mode", "half_pixel"}};
  if (how == "bicubic")
    return {{"mode", "cubic"},
            {"coordinate_transformation_mode", "half_pixel"},
            {"cubic_coeff_a", -0.5},
            {"exclude_outside", 1}};
  call.refuse("interpolation '" + how + "' has no translation", "nearest, bilinear or bicubic have one");
}

}  // namespace

void resizing(Call& call) {
  GraphBuilder& b = call.b;
  const Frame frame = frame_of(call);
  for (const char* key : {"crop_to_aspect_ratio", "pad_to_aspect_ratio", "antialias"})
    if (call.flag(key, false)) call.refuse(std::string("'") + key + "' has no translation");
  IrValue* x = b.cast(call.in(), call.elem());
  const Attrs attrs = interpolation(call, call.text("interpolation", "bilinear"));
  const std::int64_t height = call.integer("height"), width = call.integer("width");
  // Runtimes resize the last two of four axes.
  const bool is_alone = frame.rank == 3, is_last = !call.is_channels_first();
  if (is_alone) x = b.unsqueeze(x, {0});
  if (is_last) x = b.transpose(x, {0, 3, 1, 2});
  IrValue* outer = b.op("Slice", {b.shape(x), b.ints({0}), b.ints({2}), b.ints({0})});
  IrValue* y = b.op("Resize", {x, nullptr, nullptr, b.concat({outer, b.ints({height, width})}, 0)}, attrs);
  if (is_last) y = b.transpose(y, {0, 2, 3, 1});
  call.set(is_alone ? b.squeeze(y, {0}) : y);
}

void center_crop(Call& call) {
  GraphBuilder& b = call.b;
  const Frame frame = frame_of(call);
  const std::int64_t height = call.integer("height"), width = call.integer("width");
  const std::int64_t rows = call.size(0, frame.height_axis), columns = call.size(0, frame.width_axis);
  if (rows < height || columns < width) call.refuse("images that are smaller than the crop are resized by Keras");
  const std::int64_t top = (rows - height) / 2, left = (columns - width) / 2;
  call.set(b.op("Slice", {call.in(), b.ints({top, left}), b.ints({top + height, left + width}),
                          b.ints({frame.height_axis, frame.width_axis})}));
}

/// While running, images that have the size already pass.
void random_crop(Call& call) {
  const Frame frame = frame_of(call);
  const bool fits = dim_of(call.in(), frame.height_axis) == call.integer("height") &&
                    dim_of(call.in(), frame.width_axis) == call.integer("width");
  if (!fits) call.refuse("images of another size than the crop are resized by Keras");
  identity(call);
}

}  // namespace ingot::frontends::keras
