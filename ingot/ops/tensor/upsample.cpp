// Upsample: an enlarged image; since opset 10 it is Resize's work.
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/tensor/resize/shape.h"

namespace ingot::ops {
namespace {

std::string modern_mode(const Attributes& attributes) {
  const std::string mode = attributes.string_or("mode", "nearest");
  return mode == "bilinear" ? "linear" : mode;
}

void up_to_scales(StepContext& c) {
  const std::vector<float> scales = {1, 1, c.node.attributes.float_or("height_scale", 1),
                                     c.node.attributes.float_or("width_scale", 1)};
  c.node.attributes.erase("height_scale");
  c.node.attributes.erase("width_scale");
  c.node.attributes.set(Attribute("scales", AttrValue(scales)));
  c.node.attributes.set({"mode", modern_mode(c.node.attributes).c_str()});
}

void up_to_input(StepContext& c) {
  const auto* scales = c.node.attributes.get<std::vector<float>>("scales");
  if (!scales) c.cannot("the scales are missing");
  c.node.set_input(1, c.g.constant(Tensor::of<float>({static_cast<std::int64_t>(scales->size())}, *scales)));
  c.node.attributes.erase("scales");
}

void down_to_attribute(StepContext& c) {
  const Tensor* scales = c.constant(1);
  if (!scales || scales->dtype() != DType::f32) c.cannot("the scales must be constant, but are computed while running");
  c.node.attributes.set(Attribute("scales", AttrValue(scales->to_vector<float>())));
  c.node.resize_inputs(1);
}

void up_to_resize(StepContext& c) {
  c.replace({c.g.op("Resize", {c.node.input(0), c.node.input(1)}, {{"mode", modern_mode(c.node.attributes)}})});
}

constexpr Step kSteps[] = {
    {.since = 7, .up = up_to_scales},
    {.since = 9, .up = up_to_input, .down = down_to_attribute},
    {.since = 10, .up = up_to_resize},
};

Values decompose(DecomposeContext& c) {
  return {c.g.op("Resize", {c.in(0), nullptr, c.in(1)},
                 {{"mode", modern_mode(c.node.attributes)},
                  {"coordinate_transformation_mode", "asymmetric"},
                  {"nearest_mode", "floor"}})};
}

void infer(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) {
    if (const auto count = c.dim(1, 0).as_int(); count && *count > 0) c.out_rank(0, *count);
    return;
  }
  const auto scales = c.const_doubles(1);
  if (scales && scales->size() != x->size())
    c.fail("there are " + std::to_string(scales->size()) + " scales for rank " + std::to_string(x->size()));
  Shape y(x->size());
  for (std::size_t i = 0; scales && i < y.size(); ++i) y[i] = scaled_size((*x)[i], (*scales)[i]);
  c.out_shape(0, std::move(y));
}

}  // namespace

constinit const OpDef defs::Upsample = {
    .name = "Upsample",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
};

}  // namespace ingot::ops
