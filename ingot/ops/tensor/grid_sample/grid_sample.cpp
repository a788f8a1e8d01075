// GridSample: an image read at given places between its pixels.
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/grid_sample/body.h"
#include "ingot/ops/tensor/grid_sample/kernel.h"

namespace ingot::ops {
namespace {

// Opset 20 dropped the "bi" of the modes and allowed any number of dimensions.
void up_to_any_dimension(StepContext& c) {
  const std::string mode = c.node.attributes.string_or("mode", "bilinear");
  c.node.attributes.set({"mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode.c_str()});
}

void down_to_images(StepContext& c) {
  if (const std::int64_t rank = c.rank(1) ? *c.rank(1) : c.need_rank(0); rank != 4)
    c.cannot("rank " + std::to_string(rank) + " is possible since opset 20");
  const std::string mode = c.node.attributes.string_or("mode", "linear");
  c.node.attributes.set({"mode", mode == "linear" ? "bilinear" : mode == "cubic" ? "bicubic" : mode.c_str()});
}

constexpr Step kSteps[] = {{.since = 20, .up = up_to_any_dimension, .down = down_to_images}};

void infer(InferContext& c) {
  const Shape *x = c.shape(0), *grid = c.shape(1);
  for (const Shape* s : {x, grid})
    if (s && s->size() < 3) c.fail("an input has rank " + std::to_string(s->size()));
  if (!x && !grid) return;
  const std::size_t rank = x ? x->size() : grid->size();
  if (x && grid && x->size() != grid->size()) c.fail("image and grid differ in rank");
  if (grid && !may_equal(grid->back(), static_cast<std::int64_t>(rank) - 2))
    c.fail("the grid has " + grid->back().str() + " coordinates for " + std::to_string(rank - 2) + " dimensions");
  if (x && grid && !may_equal((*x)[0], (*grid)[0]))
    c.fail("image and grid have batches of " + (*x)[0].str() + " and " + (*grid)[0].str());
  Shape y(rank);
  y[0] = x ? (*x)[0] : (*grid)[0];
  if (x && grid && (*grid)[0].is_known()) y[0] = (*grid)[0];
  if (x) y[1] = (*x)[1];
  if (grid) std::copy(grid->begin() + 1, grid->end() - 1, y.begin() + 2);
  c.out_shape(0, std::move(y));
}

}  // namespace

constinit const OpDef defs::GridSample = {
    .name = "GridSample",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose_grid_sample,
    .kernel = run_grid_sample,
};

}  // namespace ingot::ops
