// Preparation of images.
#include <algorithm>

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

namespace {

struct Sizes {
  std::int64_t height = 0, width = 0;
};

/// The middle part of the image that has the proportions of `to`.
IrValue* cropped_to_proportions(Call& call, IrValue* x, const Frame& frame, const Sizes& to) {
  GraphBuilder& b = call.b;
  const std::int64_t rows = call.size(0, frame.height_axis), columns = call.size(0, frame.width_axis);
  const auto within = [](double wanted, std::int64_t most) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, most);
  };
  const std::int64_t height = within(static_cast<double>(columns * to.height) / static_cast<double>(to.width), rows);
  const std::int64_t width = within(static_cast<double>(rows * to.width) / static_cast<double>(to.height), columns);
  const std::int64_t top = (rows - height) / 2, left = (columns - width) / 2;
  return b.op("Slice", {x, b.ints({top, left}), b.ints({top + height, left + width}),
                        b.ints({frame.height_axis, frame.width_axis})});
}

/// The image in the middle of one that has the proportions of `to`.
IrValue* padded_to_proportions(Call& call, IrValue* x, const Frame& frame, const Sizes& to) {
  GraphBuilder& b = call.b;
  const std::int64_t rows = call.size(0, frame.height_axis), columns = call.size(0, frame.width_axis);
  const auto height = std::max<std::int64_t>(
      rows, static_cast<std::int64_t>(static_cast<double>(columns * to.height) / static_cast<double>(to.width)));
  const auto width = std::max<std::int64_t>(
      columns, static_cast<std::int64_t>(static_cast<double>(rows * to.width) / static_cast<double>(to.height)));
  const std::int64_t top = (height - rows) / 2, left = (width - columns) / 2;
  if (call.text("fill_mode", "constant") != "constant")
    call.refuse("padding by other than a constant has no translation");
  return b.op("Pad",
              {x, b.ints({top, left, height - rows - top, width - columns - left}),
               b.scalar(call.number("fill_value", 0), x->type.elem), b.ints({frame.height_axis, frame.width_axis})});
}

/// Runtimes resize the last two of four axes.
IrValue* resized(Call& call, IrValue* x, const Frame& frame, const Sizes& to, Attrs attrs) {
  GraphBuilder& b = call.b;
  const bool is_alone = frame.rank == 3, is_last = !call.is_channels_first();
  if (is_alone) x = b.unsqueeze(x, {0});
  if (is_last) x = b.transpose(x, {0, 3, 1, 2});
  IrValue* outer = b.op("Slice", {b.shape(x), b.ints({0}), b.ints({2}), b.ints({0})});
  IrValue* y = b.op("Resize", {x, nullptr, nullptr, b.concat({outer, b.ints({to.height, to.width})}, 0)}, attrs);
  if (is_last) y = b.transpose(y, {0, 2, 3, 1});
  return is_alone ? b.squeeze(y, {0}) : y;
}

/// As Keras makes images fit that are not of the size of a crop.
IrValue* made_to_fit(Call& call, const Frame& frame, const Sizes& to) {
  IrValue* x = call.b.cast(call.in(), call.elem());
  return resized(call, cropped_to_proportions(call, x, frame, to), frame, to, interpolation(call, "bilinear"));
}

}  // namespace

void resizing(Call& call) {
  const Frame frame = frame_of(call);
  const Sizes to{call.integer("height"), call.integer("width")};
  call.require(to.height > 0 && to.width > 0, "it has bad sizes");
  IrValue* x = call.b.cast(call.in(), call.elem());
  Attrs attrs = interpolation(call, call.text("interpolation", "bilinear"));
  if (call.flag("antialias", false)) attrs.emplace_back("antialias", 1);
  if (call.flag("crop_to_aspect_ratio", false)) x = cropped_to_proportions(call, x, frame, to);
  if (call.flag("pad_to_aspect_ratio", false)) x = padded_to_proportions(call, x, frame, to);
  call.set(resized(call, x, frame, to, attrs));
}

void center_crop(Call& call) {
  GraphBuilder& b = call.b;
  const Frame frame = frame_of(call);
  const std::int64_t height = call.integer("height"), width = call.integer("width");
  call.require(height > 0 && width > 0, "it has bad sizes");
  const std::int64_t rows = call.size(0, frame.height_axis), columns = call.size(0, frame.width_axis);
  if (rows < height || columns < width) return call.set(made_to_fit(call, frame, {height, width}));
  const std::int64_t top = (rows - height) / 2, left = (columns - width) / 2;
  call.set(b.op("Slice", {call.in(), b.ints({top, left}), b.ints({top + height, left + width}),
                          b.ints({frame.height_axis, frame.width_axis})}));
}

/// Each channel of each image from its darkest to its brightest over all of the range.
void auto_contrast(Call& call) {
  GraphBuilder& b = call.b;
  const Frame frame = frame_of(call);
  const Config range = call.at("value_range");
  const double least = range[0].as_number().value_or(0), most = range[1].as_number().value_or(255);
  call.require(most > least, "its range of values is empty");
  IrValue* x = b.cast(call.in(), call.elem());
  IrValue* axes = b.ints({frame.rank - 3, frame.rank - 2});
  const auto scaled = [&](IrValue* v, double from, double from_end, double to, double to_end) {
    return from == to && from_end == to_end ? v : b.add(b.mul(b.sub(v, from), (to_end - to) / (from_end - from)), to);
  };
  IrValue* in = scaled(x, least, most, 0, 255);
  IrValue* low = b.op("ReduceMin", {in, axes}, {{"keepdims", 1}});
  IrValue* high = b.op("ReduceMax", {in, axes}, {{"keepdims", 1}});
  IrValue* scale = b.div(255, b.sub(high, low));
  IrValue* y = b.sub(b.mul(in, scale), b.mul(low, scale));
  y = b.op("Clip", {y, b.scalar(0, call.elem()), b.scalar(255, call.elem())});
  y = scaled(y, 0, 255, least, most);
  // A channel of one value stays as it is.
  call.set(b.where(b.op("Equal", {high, low}), x, y));
}

/// While running, images that have the size already pass, and others are resized.
void random_crop(Call& call) {
  const Frame frame = frame_of(call);
  const Sizes to{call.integer("height"), call.integer("width")};
  call.require(to.height > 0 && to.width > 0, "it has bad sizes");
  if (dim_of(call.in(), frame.height_axis) == to.height && dim_of(call.in(), frame.width_axis) == to.width)
    return identity(call);
  call.set(made_to_fit(call, frame, to));
}

}  // namespace ingot::frontends::keras
