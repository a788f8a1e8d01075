// Experiments of ONNX's first releases, which old files still have.
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

double number(const DecomposeContext& c, const char* name, float fallback) {
  return static_cast<double>(c.attr(name, fallback));
}

Values affine(DecomposeContext& c) { return {c.g.add(c.g.mul(c.in(0), number(c, "alpha", 1)), number(c, "beta", 0))}; }

/// border: left, top, right, bottom; with a scale, that is the height and width from the top left corner.
Values crop(DecomposeContext& c) {
  const auto border = c.node.attributes.ints_or("border", {});
  const auto scale = c.node.attributes.ints_or("scale", {});
  if (border.size() != 4) return {};
  const std::int64_t left = border[0], top = border[1];
  Value* ends = nullptr;
  if (scale.size() == 2) {
    ends = c.g.ints({top + scale[0], left + scale[1]});
  } else {
    Value* sizes = c.g.op("Shape", {c.in(0)}, {{"start", 2}, {"end", 4}});
    ends = c.g.sub(sizes, c.g.ints({border[3], border[2]}));
  }
  return {c.g.op("Slice", {c.in(0), c.g.ints({top, left}), ends, c.g.ints({2, 3})})};
}

Values dynamic_slice(DecomposeContext& c) { return {c.g.op("Slice", {c.in(0), c.in(1), c.in(2), c.in(3)})}; }

Values image_scaler(DecomposeContext& c) {
  Value* y = c.g.mul(c.in(0), number(c, "scale", 1));
  const auto* bias = c.node.attributes.get<std::vector<float>>("bias");
  if (!bias || bias->empty()) return {y};
  const Tensor row = Tensor::of<float>({1, std::ssize(*bias), 1, 1}, *bias);
  return {c.g.add(y, c.g.cast(c.g.constant(row), c.elem(0)))};
}

Values parametric_softplus(DecomposeContext& c) {
  Value* x = c.g.mul(c.in(0), number(c, "beta", 1));
  return {c.g.mul(c.g.op("Softplus", {x}), number(c, "alpha", 1))};
}

Values scale(DecomposeContext& c) { return {c.g.mul(c.in(0), number(c, "scale", 1))}; }

Values scaled_tanh(DecomposeContext& c) {
  return {c.g.mul(c.g.op("Tanh", {c.g.mul(c.in(0), number(c, "beta", 1))}), number(c, "alpha", 1))};
}

}  // namespace

constinit const OpDef defs::experiments::Affine = {.name = "Affine", .infer = infer_by_body, .decompose = affine};
constinit const OpDef defs::experiments::Crop = {.name = "Crop", .infer = infer_by_body, .decompose = crop};
constinit const OpDef defs::experiments::DynamicSlice = {
    .name = "DynamicSlice", .infer = infer_by_body, .decompose = dynamic_slice};
constinit const OpDef defs::experiments::ImageScaler = {
    .name = "ImageScaler", .infer = infer_by_body, .decompose = image_scaler};
constinit const OpDef defs::experiments::ParametricSoftplus = {
    .name = "ParametricSoftplus", .infer = infer_by_body, .decompose = parametric_softplus};
constinit const OpDef defs::experiments::Scale = {.name = "Scale", .infer = infer_by_body, .decompose = scale};
constinit const OpDef defs::experiments::ScaledTanh = {
    .name = "ScaledTanh", .infer = infer_by_body, .decompose = scaled_tanh};

}  // namespace ingot::ops
