// The operators of torchvision: boxes and regions.
#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

/// Rows of five numbers: which image of the batch, then the box.
struct Regions {
  Value *boxes, *images;
};

Regions regions_of(const Call& c, std::size_t i) {
  GraphBuilder& g = c.g();
  Value* rows = c.tensor(i);
  Value* images = g.op("Gather", {rows, g.index(0)}, {{"axis", 1}});
  return {g.op("Slice", {rows, g.ints({1}), g.ints({5}), g.ints({1})}), g.cast(images, DType::i64)};
}

}  // namespace

Item nms(const Call& c) {
  GraphBuilder& g = c.g();
  Value* scores = c.tensor(1);
  Value* most = g.reshape(g.op("Size", {scores}), {1});
  Value* picked = g.op("NonMaxSuppression", {g.unsqueeze(g.cast(c.tensor(0), DType::f32), {0}),
                                             g.unsqueeze(g.cast(scores, DType::f32), {0, 1}), most,
                                             g.reshape(g.scalar(c.real(2), DType::f32), {1})});
  return g.op("Gather", {picked, g.index(2)}, {{"axis", 1}});  // batch, class, box
}
Item roi_align(const Call& c) {
  GraphBuilder& g = c.g();
  const Regions regions = regions_of(c, 1);
  return g.op("RoiAlign", {c.tensor(0), regions.boxes, regions.images},
              {{"spatial_scale", c.real(2)},
               {"output_height", c.integer(3)},
               {"output_width", c.integer(4)},
               {"sampling_ratio", std::max<std::int64_t>(c.integer(5), 0)},
               {"coordinate_transformation_mode", c.flag(6) ? "half_pixel" : "output_half_pixel"}});
}
Item roi_pool(const Call& c) {
  Value* y = c.g().op("MaxRoiPool", {c.tensor(0), c.tensor(1)},
                      {{"pooled_shape", {c.integer(3), c.integer(4)}}, {"spatial_scale", c.real(2)}});
  return Item::tuple({Item(y), Item(Unknown{})});
}
Item deform_conv2d(const Call& c) {
  const std::int64_t up = c.integer(7), left = c.integer(8);
  Values inputs{c.tensor(0), c.tensor(1), c.tensor(2), c.tensor(4)};
  if (c.flag(13)) inputs.push_back(c.tensor(3));
  return c.g().op("DeformConv", inputs,
                  {{"strides", {c.integer(5), c.integer(6)}},
                   {"pads", {up, left, up, left}},
                   {"dilations", {c.integer(9), c.integer(10)}},
                   {"group", c.integer(11)},
                   {"offset_group", c.integer(12)}});
}

}  // namespace ingot::frontends::torch
