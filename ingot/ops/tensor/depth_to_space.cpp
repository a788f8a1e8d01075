// DepthToSpace and SpaceToDepth: blocks of an image as channels, and back.
#include <limits>

#include "ingot/base/checked.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/walk.h"

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

// The elements of x, seen as an array of these dimensions, with its axes in another order.
void rearrange(KernelContext& c, const Array& x, const Dims& seen, const std::vector<std::size_t>& order, Dims result) {
  const Dims dense = strides_of(seen);
  Walk walk{{}, {{}}};
  for (const std::size_t axis : order) {
    walk.dims.push_back(seen[axis]);
    walk.strides[0].push_back(dense[axis]);
  }
  Array& y = c.make(0, x.dtype(), std::move(result));
  join_axes(walk);
  gather_walk(walk, x, 0, y, c.host().budget());
}

std::int64_t run_block_size(const KernelContext& c, const Array& x) {
  const std::int64_t block = c.attr("blocksize", std::int64_t{0});
  if (x.rank() != 4) c.fail("the input is not of rank 4");
  if (block <= 0 || block > std::numeric_limits<std::int32_t>::max()) c.fail("blocksize is " + std::to_string(block));
  return block;
}

void run_to_space(KernelContext& c) {
  const Array& x = c.in(0);
  const std::int64_t b = run_block_size(c, x), n = x.dims()[0], h = x.dims()[2], w = x.dims()[3];
  const std::string mode = c.attr("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") c.fail("mode '" + mode + "' is not known");
  if (x.dims()[1] % (b * b) != 0) c.fail("the number of channels is not a multiple of " + std::to_string(b * b));
  const std::int64_t depth = x.dims()[1] / (b * b);
  const auto height = checked_mul(h, b), width = checked_mul(w, b);
  if (!height || !width) c.fail("the result is too large");
  const Dims result = {n, depth, *height, *width};
  if (mode == "DCR")
    rearrange(c, x, {n, b, b, depth, h, w}, {0, 3, 4, 1, 5, 2}, result);
  else
    rearrange(c, x, {n, depth, b, b, h, w}, {0, 1, 4, 2, 5, 3}, result);
}

void run_to_depth(KernelContext& c) {
  const Array& x = c.in(0);
  const std::int64_t b = run_block_size(c, x), n = x.dims()[0], depth = x.dims()[1];
  if (x.dims()[2] % b != 0 || x.dims()[3] % b != 0) c.fail("height or width is not a multiple of " + std::to_string(b));
  const std::int64_t h = x.dims()[2] / b, w = x.dims()[3] / b;
  const auto channels = checked_mul(depth, b * b);
  if (!channels) c.fail("the result is too large");
  rearrange(c, x, {n, depth, h, b, w, b}, {0, 3, 5, 1, 2, 4}, {n, *channels, h, w});
}

}  // namespace

constinit const OpDef defs::DepthToSpace = {
    .name = "DepthToSpace",
    .infer = infer_to_space,
    .kernel = run_to_space,
    .gradient = gradient_depth_to_space,
};
constinit const OpDef defs::SpaceToDepth = {
    .name = "SpaceToDepth",
    .infer = infer_to_depth,
    .kernel = run_to_depth,
    .gradient = gradient_space_to_depth,
};

}  // namespace ingot::ops
