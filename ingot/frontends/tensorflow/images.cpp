// Images: sizes, crops, patches, colours.
#include <cmath>

#include "ingot/frontends/tensorflow/layout.h"

namespace ingot::frontends::tensorflow {
namespace {

using Ints = std::vector<std::int64_t>;

/// [n, h, w, c] to the size of input 1.
Value* resized(const TfNode& n, GraphBuilder& g, Value* x, Attrs attrs) {
  const bool aligned = n.flag("align_corners", false), half = n.flag("half_pixel_centers", false);
  attrs.emplace_back("coordinate_transformation_mode", aligned ? "align_corners" : half ? "half_pixel" : "asymmetric");
  Value* first = g.transpose(x, {0, 3, 1, 2});
  Value* sizes = as_int64_vector(g, n.input(1));
  const auto batch = dim_of(first, 0), channels = dim_of(first, 1);
  if (batch && channels) {  // the form that every runtime knows
    Value* others = g.ints({*batch, *channels});
    sizes = g.concat({others, sizes}, 0);
  } else {
    attrs.emplace_back("axes", Ints{2, 3});
  }
  Value* y = g.op("Resize", {first, nullptr, nullptr, sizes}, attrs);
  return g.transpose(y, {0, 2, 3, 1});
}

/// 0 .. count - 1 as numbers, in a row or a column.
Value* counted(GraphBuilder& g, Value* count, std::int64_t axis) {
  Value* numbers = g.op("Range", {g.index(0), count, g.index(1)});
  return g.unsqueeze(g.cast(numbers, DType::f32), {axis});
}

/// The position of each new row i among the old ones is i times this.
Value* row_scale(const TfNode& n, GraphBuilder& g, Value* from, Value* to) {
  Value* plain = g.div(g.cast(from, DType::f32), g.cast(to, DType::f32));
  if (!n.flag("align_corners", false)) return plain;
  Value* gaps = g.cast(g.sub(to, g.index(1)), DType::f32);
  Value* is_single = g.op("LessOrEqual", {gaps, g.scalar(0, DType::f32)});
  Value* safe = g.where(is_single, g.scalar(1, DType::f32), gaps);
  Value* aligned = g.div(g.cast(g.sub(from, g.index(1)), DType::f32), safe);
  return g.where(is_single, plain, aligned);
}

/// How much each old row k gives to each new row i when areas are averaged: the part of [i, i + 1) * scale in [k, k +
/// 1); the last row goes on for ever.
Value* area_weights(const TfNode& n, GraphBuilder& g, Value* from, Value* to) {
  Value* scale = row_scale(n, g, from, to);
  Value* i = counted(g, to, 1);
  Value* k = counted(g, from, 0);
  Value* next = g.add(k, 1);
  Value* is_last = g.op("Equal", {next, g.cast(from, DType::f32)});
  Value* edge = g.where(is_last, g.scalar(1e30, DType::f32), next);
  Value* end = g.op("Min", {g.mul(g.add(i, 1), scale), edge});
  Value* begin = g.op("Max", {g.mul(i, scale), k});
  Value* part = g.op("Max", {g.sub(end, begin), g.scalar(0, DType::f32)});
  return g.div(part, scale);
}

/// The same of cubic interpolation, with positions rounded to 1/1024 of a pixel as TensorFlow does.
Value* cubic_weights(const TfNode& n, GraphBuilder& g, Value* from, Value* to) {
  const bool half = n.flag("half_pixel_centers", false);
  const double a = half ? -0.5 : -0.75;
  Value* scale = row_scale(n, g, from, to);
  Value* i = counted(g, to, 1);
  Value* at = half ? g.sub(g.mul(g.add(i, 0.5), scale), 0.5) : g.mul(i, scale);
  Value* below = g.op("Floor", {at});
  Value* part = g.div(g.op("Round", {g.mul(g.sub(at, below), 1024)}), 1024);
  const auto near = [&](Value* x) {  // ((a + 2) x - (a + 3)) x^2 + 1
    Value* slope = g.sub(g.mul(x, a + 2), a + 3);
    return g.add(g.mul(slope, g.mul(x, x)), 1);
  };
  const auto far = [&](Value* distance) {  // ((a x - 5 a) x + 8 a) x - 4 a, one pixel further
    Value* x = g.add(distance, 1);
    Value* inner = g.add(g.mul(g.sub(g.mul(x, a), 5 * a), x), 8 * a);
    return g.sub(g.mul(inner, x), 4 * a);
  };
  Value* other = g.sub(1, part);
  const Values weights{far(part), near(part), near(other), far(other)};
  Value* k = counted(g, from, 0);
  Value* zero = g.scalar(0, DType::f32);
  Value* last = g.cast(g.sub(from, g.index(1)), DType::f32);
  Value* sum = nullptr;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    Value* place = g.add(below, static_cast<double>(t) - 1);
    // Outside: the edge again; with half pixels nothing, and the rest is scaled up.
    if (!half) place = g.op("Clip", {place, zero, last});
    Value* share = g.where(g.op("Equal", {place, k}), weights[t], zero);
    sum = sum ? g.add(sum, share) : share;
  }
  if (!half) return sum;
  Value* total = g.reduce_sum(sum, {1});
  return g.div(sum, total);
}

/// [n, h, w, c] to the size of input 1, by weights for rows and columns.
Value* weighted(const TfNode& n, GraphBuilder& g, Value* (*weights)(const TfNode&, GraphBuilder&, Value*, Value*)) {
  Value* x = g.transpose(g.cast(n.input(0), DType::f32), {0, 3, 1, 2});
  Value* dims = g.shape(x);
  Value* size = as_int64_vector(g, n.input(1));
  const auto along = [&](std::int64_t axis) {
    Value* from = g.op("Gather", {dims, g.index(axis + 2)});
    return weights(n, g, from, g.op("Gather", {size, g.index(axis)}));
  };
  Value* rows = along(0);
  Value* columns = g.transpose(along(1), {1, 0});
  Value* y = g.op("MatMul", {g.op("MatMul", {rows, x}), columns});
  return g.transpose(y, {0, 2, 3, 1});
}

/// The channels of [..., 3], each with an axis of size 1 last.
Values channels(GraphBuilder& g, Value* x) { return g.op("Split", {x}, {{"axis", -1}, {"num_outputs", 3}}, 3); }

struct Hsv {
  Value *h, *s, *v;
};

Hsv to_hsv(GraphBuilder& g, Value* rgb) {
  const Values c = channels(g, rgb);
  const DType t = rgb->type.elem;
  Value* high = g.op("Max", {c[0], c[1], c[2]});
  Value* low = g.op("Min", {c[0], c[1], c[2]});
  Value* range = g.sub(high, low);
  Value* zero = g.scalar(0, t);
  Value* one = g.scalar(1, t);
  Value* is_grey = g.op("Equal", {range, zero});
  Value* is_black = g.op("LessOrEqual", {high, zero});
  Value* s = g.where(is_black, zero, g.div(range, g.where(is_black, one, high)));
  Value* sixth = g.div(g.scalar(1.0 / 6, t), g.where(is_grey, one, range));
  Value* from_red = g.mul(sixth, g.sub(c[1], c[2]));
  Value* from_green = g.add(g.mul(sixth, g.sub(c[2], c[0])), 2.0 / 6);
  Value* from_blue = g.add(g.mul(sixth, g.sub(c[0], c[1])), 4.0 / 6);
  Value* is_red = g.op("Equal", {c[0], high});
  Value* is_green = g.op("Equal", {c[1], high});
  Value* h = g.where(is_red, from_red, g.where(is_green, from_green, from_blue));
  h = g.where(is_grey, zero, h);
  Value* is_negative = g.op("Less", {h, zero});
  return {g.where(is_negative, g.add(h, one), h), s, high};
}

Value* to_rgb(GraphBuilder& g, const Hsv& c) {
  const DType t = c.h->type.elem;
  Value* low = g.scalar(0, t);
  Value* high = g.scalar(1, t);
  Value* six = g.mul(c.h, 6);
  const auto clipped = [&](Value* x) { return g.op("Clip", {x, low, high}); };
  Value* r = clipped(g.sub(g.op("Abs", {g.sub(six, 3)}), 1));
  Value* green = clipped(g.sub(2, g.op("Abs", {g.sub(six, 2)})));
  Value* b = clipped(g.sub(2, g.op("Abs", {g.sub(six, 4)})));
  Value* whiteness = g.sub(1, c.s);
  const auto mixed = [&](Value* x) { return g.mul(g.add(whiteness, g.mul(c.s, x)), c.v); };
  Value* red = mixed(r);
  Value* g2 = mixed(green);
  Value* blue = mixed(b);
  return g.concat({red, g2, blue}, -1);
}

}  // namespace

Values resize_bilinear(const TfNode& n, GraphBuilder& g) {
  return {resized(n, g, g.cast(n.input(0), DType::f32), {{"mode", "linear"}})};
}
Values resize_nearest(const TfNode& n, GraphBuilder& g) {
  const bool rounds = n.flag("align_corners", false) || n.flag("half_pixel_centers", false);
  return {resized(n, g, n.input(0), {{"mode", "nearest"}, {"nearest_mode", rounds ? "round_prefer_ceil" : "floor"}})};
}
Values resize_bicubic(const TfNode& n, GraphBuilder& g) { return {weighted(n, g, cubic_weights)}; }
Values resize_area(const TfNode& n, GraphBuilder& g) { return {weighted(n, g, area_weights)}; }

Values crop_and_resize(const TfNode& n, GraphBuilder& g) {
  Value* size = as_int64_vector(g, n.input(3));
  Value* image = g.transpose(g.cast(n.input(0), DType::f32), {0, 3, 1, 2});
  Value* crops = g.op("Gather", {image, n.input(2)}, {{"axis", 0}});                       // one image per box
  const Values edges = g.op("Split", {n.input(1)}, {{"axis", 1}, {"num_outputs", 4}}, 4);  // y1 x1 y2 x2, [boxes, 1]
  // Positions relative to the image, 0 to 1: from edge to edge, or the middle where one row is asked for.
  const auto positions = [&](Value* low, Value* high, std::int64_t axis) {
    Value* count = g.op("Gather", {size, g.index(axis)});
    Value* gaps = g.cast(g.sub(count, g.index(1)), DType::f32);
    Value* is_single = g.op("LessOrEqual", {gaps, g.scalar(0, DType::f32)});
    Value* steps = g.div(counted(g, count, 0), g.op("Max", {gaps, g.scalar(1, DType::f32)}));
    Value* along = g.where(is_single, g.scalar(0.5, DType::f32), steps);
    return g.add(low, g.mul(g.sub(high, low), along));
  };
  Value* y = positions(edges[0], edges[2], 0);
  Value* x = positions(edges[1], edges[3], 1);
  const auto inside = [&](Value* at) {
    Value* low = g.op("GreaterOrEqual", {at, g.scalar(0, DType::f32)});
    return g.op("And", {low, g.op("LessOrEqual", {at, g.scalar(1, DType::f32)})});
  };
  Value* row_in = g.unsqueeze(inside(y), {2});
  Value* is_in = g.op("And", {row_in, g.unsqueeze(inside(x), {1})});
  const auto grid = [&](Value* at, std::int64_t axis) { return g.unsqueeze(g.sub(g.mul(at, 2), 1), {axis}); };
  Value* gy = grid(y, 2);  // [boxes, h, 1]
  Value* gx = grid(x, 1);  // [boxes, 1, w]
  Value* full_y = g.unsqueeze(g.add(gy, g.mul(gx, 0.0)), {3});
  Value* full_x = g.unsqueeze(g.add(gx, g.mul(gy, 0.0)), {3});
  Value* places = g.concat({full_x, full_y}, 3);
  const bool is_nearest = n.text("method", "bilinear") == "nearest";
  Value* sampled =
      g.op("GridSample", {crops, places},
           {{"align_corners", 1}, {"mode", is_nearest ? "nearest" : "linear"}, {"padding_mode", "border"}});
  Value* last = g.transpose(sampled, {0, 2, 3, 1});
  return {g.where(g.unsqueeze(is_in, {3}), last, g.scalar(n.real("extrapolation_value", 0), DType::f32))};
}

Values extract_image_patches(const TfNode& n, GraphBuilder& g) {
  const Ints sizes = n.ints("ksizes"), strides = n.ints("strides"), rates = n.ints("rates");
  if (sizes.size() != 4 || strides.size() != 4 || rates.size() != 4)
    n.unsupported("four sizes, strides and rates are needed");
  const Ints kernel{sizes[1], sizes[2]}, step{strides[1], strides[2]}, rate{rates[1], rates[2]};
  if (kernel[0] < 1 || kernel[1] < 1 || kernel[0] > 64 || kernel[1] > 64) n.unsupported("the size of the patches");
  // Each channel is an image of its own; a filter [positions, 1, h, w] with a single one each picks.
  const std::int64_t count = kernel[0] * kernel[1];
  if (count > 1024) n.unsupported("the patches are too large");
  std::vector<float> picks(static_cast<std::size_t>(count * count), 0);
  for (std::int64_t p = 0; p < count; ++p) picks[static_cast<std::size_t>(p * count + p)] = 1;
  const DType t = n.elem(0), inner = t == DType::f64 || t == DType::i64 ? DType::f64 : DType::f32;
  Value* first = g.cast(g.transpose(n.input(0), {0, 3, 1, 2}), inner);
  Value* outer = g.op("Slice", {g.shape(first), g.ints({0}), g.ints({2})});
  Value* space = g.op("Slice", {g.shape(first), g.ints({2}), g.ints({4})});
  Value* x = g.op("Reshape", {first, g.concat({g.ints({-1, 1}), space}, 0)});
  Value* w = g.cast(g.constant(Tensor::of<float>({count, 1, kernel[0], kernel[1]}, picks)), inner);
  const Layout layout(n, 2);
  Attrs attrs = padding_attrs(n, layout, x, {{kernel, step, rate}});
  attrs.emplace_back("kernel_shape", kernel);
  attrs.emplace_back("strides", step);
  attrs.emplace_back("dilations", rate);
  Value* found = g.op("Conv", {x, w}, attrs);  // [n * c, positions, oh, ow]
  Value* size = g.op("Slice", {g.shape(found), g.ints({1}), g.ints({4})});
  Value* apart = g.transpose(g.op("Reshape", {found, g.concat({outer, size}, 0)}), {0, 3, 4, 2, 1});
  Value* rows = g.op("Slice", {g.shape(apart), g.ints({0}), g.ints({3})});
  Value* y = g.op("Reshape", {apart, g.concat({rows, g.ints({-1})}, 0)});
  return {g.cast(y, t)};
}

Values rgb_to_hsv(const TfNode& n, GraphBuilder& g) {
  const Hsv c = to_hsv(g, n.input(0));
  return {g.concat({c.h, c.s, c.v}, -1)};
}
Values hsv_to_rgb(const TfNode& n, GraphBuilder& g) {
  const Values c = channels(g, n.input(0));
  return {to_rgb(g, {c[0], c[1], c[2]})};
}
Values adjust_contrast(const TfNode& n, GraphBuilder& g) {
  Value* x = g.cast(n.input(0), DType::f32);
  Value* mean = g.op("ReduceMean", {x, g.ints({-3, -2})}, {{"keepdims", 1}});
  Value* factor = g.cast(n.input(1), DType::f32);
  Value* y = g.add(g.mul(g.sub(x, mean), factor), mean);
  return {g.cast(y, n.elem(0))};
}
Values adjust_saturation(const TfNode& n, GraphBuilder& g) {
  Hsv c = to_hsv(g, n.input(0));
  Value* low = g.scalar(0, n.elem(0));
  Value* high = g.scalar(1, n.elem(0));
  c.s = g.op("Clip", {g.mul(c.s, g.cast(n.input(1), n.elem(0))), low, high});
  return {to_rgb(g, c)};
}
Values adjust_hue(const TfNode& n, GraphBuilder& g) {
  // Between the least and the greatest channel, whatever their signs are.
  Hsv c = to_hsv(g, n.input(0));
  Value* turned = g.add(c.h, g.cast(n.input(1), n.elem(0)));
  c.h = g.sub(turned, g.op("Floor", {turned}));
  c.s = c.v = g.scalar(1, n.elem(0));
  const Values rgb = channels(g, n.input(0));
  Value* high = g.op("Max", {rgb[0], rgb[1], rgb[2]});
  Value* low = g.op("Min", {rgb[0], rgb[1], rgb[2]});
  return {g.add(g.mul(to_rgb(g, c), g.sub(high, low)), low)};
}

}  // namespace ingot::frontends::tensorflow
