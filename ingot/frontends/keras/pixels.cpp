// Images among keras.ops: colours, parts, borders, filters.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/frontends/channels_last.h"
#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

/// Where an image's axes are; one image or a batch of them.
struct Picture {
  IrValue* x;
  std::int64_t rank, height, width, channels;
};
Picture picture_of(Call& call) {
  Picture p{first(call), 0, 0, 0, 0};
  p.rank = rank_needed(call, p.x);
  call.require(p.rank == 3 || p.rank == 4, "the input is no image");
  const bool is_first = setting(call, 99, {"data_format"}).text() == "channels_first";
  p.channels = is_first ? p.rank - 3 : p.rank - 1;
  p.height = is_first ? p.rank - 2 : p.rank - 3;
  p.width = p.height + 1;
  return p;
}

Values planes(Call& call, const Picture& p, IrValue* x) {
  call.require(dim_of(x, p.channels) == 3, "the image does not have three channels");
  return call.b.op("Split", {x}, {{"axis", p.channels}, {"num_outputs", 3}}, 3);
}

/// One filter over every channel; the result has an axis of `filters` results per channel behind the channels.
IrValue* filtered(Call& call, const Picture& p, IrValue* x, const Tensor& filters) {
  GraphBuilder& b = call.b;
  const auto channels = dim_of(p.x, p.channels);
  call.require(channels.has_value(), "the number of channels is not known");
  IrValue* w = b.op("Tile", {b.cast(b.constant(filters), x->type.elem), b.ints({*channels, 1, 1, 1})});
  return b.op("Conv", {x, w}, {{"group", *channels}});
}
IrValue* batch_of(GraphBuilder& b, const Picture& p, IrValue* x) {
  if (p.rank == 3) x = b.unsqueeze(x, {0});
  return p.channels == p.rank - 1 ? channels_first(b, x, 4) : x;
}
IrValue* as_given(GraphBuilder& b, const Picture& p, IrValue* x) {
  if (p.channels == p.rank - 1) x = channels_last(b, x, 4);
  return p.rank == 3 ? b.squeeze(x, {0}) : x;
}

/// What is taken away or added at both ends of an axis, of which one end or the size may be left out.
struct Ends {
  std::int64_t before, after;
};
Ends ends_of(Call& call, const Picture& p, bool is_height, const std::string& what) {
  const auto said = [&](const char* side) { return setting(call, 99, {(side + ("_" + what)).c_str()}).as_int(); };
  auto before = said(is_height ? "top" : "left"), after = said(is_height ? "bottom" : "right");
  if (const auto target = setting(call, 99, {is_height ? "target_height" : "target_width"}).as_int();
      target && !(before && after)) {
    const auto size = dim_of(p.x, is_height ? p.height : p.width);
    call.require(size && *target >= 0 && *target < (1 << 24), "the size of the image is not known");
    const std::int64_t all = what == "padding" ? *target - *size : *size - *target;
    if (before)
      after = all - *before;
    else
      before = all - after.value_or(0);
    after = after.value_or(0);
  }
  const Ends ends{before.value_or(0), after.value_or(0)};
  call.require(ends.before >= 0 && ends.after >= 0 && ends.before < (1 << 24) && ends.after < (1 << 24),
               "its border is no size");
  return ends;
}

}  // namespace

void op_grayscale(Call& call) {
  GraphBuilder& b = call.b;
  const Picture p = picture_of(call);
  if (dim_of(p.x, p.channels) == 1) return call.set(p.x);
  const Values rgb = planes(call, p, real(b, p.x));
  IrValue* y = b.add(b.add(b.mul(rgb[0], 0.2989), b.mul(rgb[1], 0.5870)), b.mul(rgb[2], 0.1140));
  call.set(b.cast(y, p.x->type.elem));
}

void op_rgb_to_hsv(Call& call) {
  GraphBuilder& b = call.b;
  Picture p = picture_of(call);
  p.x = real(b, p.x);
  const Values rgb = planes(call, p, p.x);
  IrValue *zero = number_like(b, p.x, 0), *one = number_like(b, p.x, 1);
  IrValue *value = b.op("Max", rgb), *range = b.sub(value, b.op("Min", rgb));
  IrValue *has_value = b.op("Greater", {value, zero}), *has_range = b.op("Greater", {range, zero});
  IrValue* saturation = b.where(has_value, b.div(range, b.where(has_value, value, one)), zero);
  IrValue* norm = b.div(1.0 / 6, b.where(has_range, range, one));
  const auto turned = [&](IrValue* from, IrValue* to, double by) { return b.add(b.mul(norm, b.sub(from, to)), by); };
  IrValue* hue =
      b.where(b.op("Equal", {value, rgb[1]}), turned(rgb[2], rgb[0], 2.0 / 6), turned(rgb[0], rgb[1], 4.0 / 6));
  hue = b.where(b.op("Equal", {value, rgb[0]}), turned(rgb[1], rgb[2], 0), hue);
  IrValue* wrapped = b.cast(b.op("Less", {hue, zero}), p.x->type.elem);
  hue = b.add(b.where(has_range, hue, zero), wrapped);
  call.set(b.concat({hue, saturation, value}, p.channels));
}

void op_hsv_to_rgb(Call& call) {
  GraphBuilder& b = call.b;
  Picture p = picture_of(call);
  p.x = real(b, p.x);
  const Values hsv = planes(call, p, p.x);
  IrValue* turn = b.mul(b.sub(hsv[0], b.op("Floor", {hsv[0]})), 6);
  IrValue *zero = number_like(b, p.x, 0), *one = number_like(b, p.x, 1);
  const auto part = [&](double centre, double sign, double shift) {
    IrValue* away = b.op("Abs", {b.sub(turn, centre)});
    IrValue* d = b.op("Clip", {b.add(b.mul(away, sign), shift), zero, one});
    return b.mul(hsv[2], b.add(b.sub(1, hsv[1]), b.mul(hsv[1], d)));
  };
  call.set(b.concat({part(3, 1, -1), part(2, -1, 2), part(4, -1, 2)}, p.channels));
}

void op_pad_images(Call& call) {
  GraphBuilder& b = call.b;
  const Picture p = picture_of(call);
  const Ends rows = ends_of(call, p, true, "padding"), columns = ends_of(call, p, false, "padding");
  call.set(b.op("Pad", {p.x, b.ints({rows.before, columns.before, rows.after, columns.after}), number_like(b, p.x, 0),
                        b.ints({p.height, p.width})}));
}

void op_crop_images(Call& call) {
  GraphBuilder& b = call.b;
  const Picture p = picture_of(call);
  const Ends rows = ends_of(call, p, true, "cropping"), columns = ends_of(call, p, false, "cropping");
  const auto end = [](std::int64_t after) { return after ? -after : std::numeric_limits<std::int64_t>::max(); };
  call.set(b.op("Slice", {p.x, b.ints({rows.before, columns.before}), b.ints({end(rows.after), end(columns.after)}),
                          b.ints({p.height, p.width})}));
}

/// A bell's curve over rows and columns; beyond the border are zeros.
void op_gaussian_blur(Call& call) {
  GraphBuilder& b = call.b;
  const Picture p = picture_of(call);
  Ints size = ints_of(setting(call, 1, {"kernel_size"}));
  if (size.empty()) size = {3, 3};
  std::vector<double> sigma;
  for (const Config& entry : setting(call, 2, {"sigma"}).entries()) sigma.push_back(entry.as_number().value_or(1));
  if (sigma.empty()) sigma = {1, 1};
  call.require(size.size() == 2 && sigma.size() == 2 && size[0] > 0 && size[1] > 0 && size[0] <= 1024 &&
                   size[1] <= 1024 && sigma[0] > 0 && sigma[1] > 0,
               "its window is no size");
  const auto curve = [](std::int64_t count, double width) {
    std::vector<double> values;
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const double at = (static_cast<double>(i) - static_cast<double>(count - 1) / 2) / width;
      sum += values.emplace_back(std::exp(-0.5 * at * at));
    }
    for (double& v : values) v /= sum;
    return values;
  };
  // Keras's first size is that of the filter's columns.
  const std::vector<double> across = curve(size[0], sigma[0]), down = curve(size[1], sigma[1]);
  std::vector<float> filter;
  for (const double v : down)
    for (const double u : across) filter.push_back(static_cast<float>(v * u));
  const std::int64_t height = size[1], width = size[0], top = (height - 1) / 2, left = (width - 1) / 2;
  IrValue* x = batch_of(b, p, real(b, p.x));
  x = b.op("Pad", {x, b.ints({0, 0, top, left, 0, 0, height - 1 - top, width - 1 - left})});
  IrValue* y = filtered(call, p, x, Tensor::of<float>({1, 1, height, width}, filter));
  call.set(b.cast(as_given(b, p, y), p.x->type.elem));
}

/// How steep an image is, downwards and to the right.
void op_sobel(Call& call) {
  GraphBuilder& b = call.b;
  Picture p = picture_of(call);
  p.x = real(b, p.x);
  call.require(p.rank == 4, "the input is no batch of images");
  const auto channels = dim_of(p.x, p.channels);
  call.require(channels.has_value(), "the number of channels is not known");
  const std::vector<float> both{-1, -2, -1, 0, 0, 0, 1, 2, 1, -1, 0, 1, -2, 0, 2, -1, 0, 1};
  IrValue* x = b.op("Pad", {batch_of(b, p, p.x), b.ints({0, 0, 1, 1, 0, 0, 1, 1})}, {{"mode", "reflect"}});
  IrValue* y = filtered(call, p, x, Tensor::of<float>({2, 1, 3, 3}, both));  // [batch, channels * 2, rows, columns]
  IrValue* tail = b.op("Slice", {b.shape(y), b.ints({2}), b.ints({4}), b.ints({0})});
  y = b.op("Reshape", {y, b.concat({b.ints({0, *channels, 2}), tail}, 0)});
  call.set(b.transpose(y, p.channels == 1 ? Ints{0, 1, 3, 4, 2} : Ints{0, 3, 4, 1, 2}));
}

}  // namespace ingot::frontends::keras
