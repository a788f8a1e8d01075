// com.microsoft.CropAndResize: parts of images in one size.
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

/// Where the elements of one axis come from, [rois, count], in places of the image.
Value* sources(GraphBuilder& g, Value* first, Value* last, Value* span, std::int64_t count) {
  if (count == 1) return g.mul(g.mul(g.add(first, last), 0.5), span);
  std::vector<float> steps;
  for (std::int64_t i = 0; i < count; ++i) steps.push_back(static_cast<float>(i));
  Value* step = g.div(g.mul(g.sub(last, first), span), static_cast<double>(count - 1));
  return g.add(g.mul(first, span), g.mul(g.constant(Tensor::of<float>({1, count}, steps)), step));
}

Values crop_and_resize(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const Tensor* size = c.constant(3);
  if (!size || size->size() != 2 || c.rank(0) != 4) return {};
  const std::int64_t height = size->to_ints()[0], width = size->to_ints()[1];
  if (height <= 0 || width <= 0) return {};
  const Values corners = g.op("Split", {c.in(1)}, {{"axis", 1}, {"num_outputs", 4}}, 4);
  const auto span = [&](std::int64_t axis) { return g.sub(g.cast(count_of(g, c.in(0), axis), DType::f32), 1.0); };
  Value *rows = span(2), *columns = span(3);
  Value* y = g.unsqueeze(sources(g, corners[0], corners[2], rows, height), {2});    // [rois, height, 1]
  Value* x = g.unsqueeze(sources(g, corners[1], corners[3], columns, width), {1});  // [rois, 1, width]
  const auto is_inside = [&](Value* at, Value* most) {
    Value* low = g.op("GreaterOrEqual", {at, g.scalar(0, DType::f32)});
    return g.op("And", {low, g.op("LessOrEqual", {at, most})});
  };
  Value* inside = g.op("And", {is_inside(y, rows), is_inside(x, columns)});
  const auto normal = [&](Value* at, Value* most) {
    Value* unit = g.op("Max", {most, g.scalar(1, DType::f32)});
    return g.sub(g.div(g.mul(at, 2.0), unit), 1.0);
  };
  Value* zeros_y = g.mul(y, 0.0);
  Value* zeros_x = g.mul(x, 0.0);
  Value* grid = g.concat(
      {g.unsqueeze(g.add(normal(x, columns), zeros_y), {3}), g.unsqueeze(g.add(normal(y, rows), zeros_x), {3})}, 3);
  Value* images = g.op("Gather", {c.in(0), c.in(2)});
  const bool is_nearest = c.attr("mode", "bilinear") == "nearest";
  Value* made = g.op("GridSample", {images, grid},
                     {{"mode", is_nearest ? "nearest" : "linear"}, {"padding_mode", "border"}, {"align_corners", 1}});
  Value* outside = g.scalar(static_cast<double>(c.attr("extrapolation_value", 0.0f)), DType::f32);
  return {g.where(g.unsqueeze(inside, {1}), made, outside)};
}

}  // namespace

constinit const OpDef defs::microsoft::CropAndResize = {
    .name = "CropAndResize", .domain = kMicrosoft, .infer = infer_by_body, .decompose = crop_and_resize};

}  // namespace ingot::ops
