// DepthToSpace and SpaceToDepth: blocks of an image as channels, and back.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"

namespace ingot::ops {
namespace {

// Nothing: the attribute is a reference.
std::optional<Dim> block_size(InferContext& c) {
  const auto size = c.need_int("blocksize");
  if (!size) return std::nullopt;
  if (*size <= 0) c.fail("blocksize is " + std::to_string(*size));
  return Dim(*size);
}

Dim divided(InferContext& c, const Dim& d, const Dim& by, const char* what) {
  if (!by.is_known()) return {};
  if (d.is_known() && d.value() % by.value() != 0)
    c.fail(std::string(what) + " is " + d.str() + ", not a multiple of " + by.str());
  return floor_div(d, by);
}

void infer_to_space(InferContext& c) {
  const auto block = block_size(c);
  const Shape* x = c.shape(0);
  if (!x || !block) return c.out_rank(0, 4);
  c.require(x->size() == 4, "the input is not of rank 4");
  c.out_shape(
      0, {(*x)[0], divided(c, (*x)[1], *block * *block, "the number of channels"), (*x)[2] * *block, (*x)[3] * *block});
}

void infer_to_depth(InferContext& c) {
  const auto block = block_size(c);
  const Shape* x = c.shape(0);
  if (!x || !block) return c.out_rank(0, 4);
  c.require(x->size() == 4, "the input is not of rank 4");
  c.out_shape(0, {(*x)[0], (*x)[1] * *block * *block, divided(c, (*x)[2], *block, "the height"),
                  divided(c, (*x)[3], *block, "the width")});
}

Values gradient_space_to_depth(GradContext& c) {
  return {c.g.op("DepthToSpace", {c.dy()}, c.same_attrs({"blocksize"}))};
}

Values gradient_depth_to_space(GradContext& c) {
  if (c.attr("mode", "DCR") == "DCR") return {c.g.op("SpaceToDepth", {c.dy()}, c.same_attrs({"blocksize"}))};
  return {c.back_to_picked(c.x(), c.dy(), [&](Value* places) {
    return c.g.op("DepthToSpace", {places}, c.same_attrs({"blocksize", "mode"}));
  })};
}

}  // namespace

constinit const OpDef defs::DepthToSpace = {
    .name = "DepthToSpace",
    .infer = infer_to_space,
    .gradient = gradient_depth_to_space,
};
constinit const OpDef defs::SpaceToDepth = {
    .name = "SpaceToDepth",
    .infer = infer_to_depth,
    .gradient = gradient_space_to_depth,
};

}  // namespace ingot::ops
