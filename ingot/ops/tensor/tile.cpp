// Tile: a tensor repeated along each dimension.
#include <cmath>

#include "ingot/base/checked.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/moves.h"

namespace ingot::ops {
namespace {

// Tile-1 repeated along one axis, given with the count as inputs.
void up_from_one_axis(StepContext& c) {
  const Tensor *tiles = c.constant(1), *axis = c.constant(2);
  if (!tiles || !axis || tiles->size() != 1 || axis->size() != 1)
    c.cannot("the count and the axis must be constant, but are computed while running");
  const std::int64_t rank = c.need_rank(0);
  const double at = axis->to_doubles().front(), count = tiles->to_doubles().front();
  if (!(at >= 0 && at < static_cast<double>(rank)) || !(count >= 0 && count < 1e15))
    c.cannot("the axis or the count is out of range");
  std::vector<std::int64_t> repeats(static_cast<std::size_t>(rank), 1);
  repeats[static_cast<std::size_t>(at)] = static_cast<std::int64_t>(count);
  c.node.set_input(1, c.g.ints(repeats));
  c.node.resize_inputs(2);
}

constexpr Step kSteps[] = {{.since = 6, .up = up_from_one_axis}};

void infer(InferContext& c) {
  const Shape* x = c.shape(0);
  const auto repeats = c.ints(1);
  const auto count = c.dim(1, 0).as_int();
  if (!x) {
    if (count && *count >= 0 && *count <= kMostDims) c.out_rank(0, *count);
    return;
  }
  if ((repeats && repeats->size() != x->size()) || (count && *count != static_cast<std::int64_t>(x->size())))
    c.fail("the number of repeats is not the rank " + std::to_string(x->size()));
  if (!repeats) {
    c.out_rank(0, static_cast<std::int64_t>(x->size()));
    return c.name_open_dims(0);
  }
  Shape y;
  for (std::size_t i = 0; i < x->size(); ++i) {
    const Dim& r = (*repeats)[i];
    if (r.is_known() && r.value() < 0) c.fail("a repeat count is " + r.str());
    y.push_back((*x)[i] * r);
  }
  const auto known = c.ints(0);
  if (known && y.size() == 1 && y[0].is_known() && y[0].value() <= 1024 && !known->empty()) {
    std::vector<Dim> values;
    while (values.size() < static_cast<std::size_t>(y[0].value()))
      values.push_back((*known)[values.size() % known->size()]);
    c.out_ints(0, std::move(values));
  }
  c.out_shape(0, std::move(y));
}

// Each axis is a number of copies of the old one: those are summed.
Values gradient_tile(GradContext& c) {
  GraphBuilder& g = c.g;
  Value *copies = g.unsqueeze(c.x(1), {1}), *sizes = g.unsqueeze(g.shape(c.x()), {1});
  Value* split = g.reshape(g.concat({copies, sizes}, 1), {-1});
  Value* parted = g.op("Reshape", {c.dy(), split}, {{"allowzero", 1}});
  std::vector<std::int64_t> axes;
  for (std::int64_t i = 0; i < c.rank(); ++i) axes.push_back(2 * i);
  return {axes.empty() ? c.dy() : g.reduce_sum(parted, axes, false)};
}

void run(KernelContext& c) {
  const Move move = read_tile(c);
  Array& y = c.make(0, c.in(0).dtype(), move.dims);
  gather_walk(move.walk, c.in(0), 0, y, c.host().budget());
}

}  // namespace

Move read_tile(KernelContext& c) {
  const Array& x = c.in(0);
  const std::vector<std::int64_t> repeats = list_of_ints(c, 1);
  if (repeats.size() != x.dims().size())
    c.fail("there are " + std::to_string(repeats.size()) + " repeats for rank " + std::to_string(x.rank()));
  const Dims dense = strides_of(x.dims());
  Dims dims;
  Walk walk{{}, {{}}};
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0) c.fail("a repeat count is " + std::to_string(repeats[i]));
    const auto size = checked_mul(repeats[i], x.dims()[i]);
    if (!size) c.fail("dimension " + std::to_string(i) + " becomes too large");
    dims.push_back(*size);
    walk.dims.insert(walk.dims.end(), {repeats[i], x.dims()[i]});
    walk.strides[0].insert(walk.strides[0].end(), {0, dense[i]});
  }
  join_axes(walk);
  return {std::move(dims), std::move(walk)};
}

constinit const OpDef defs::Tile = {
    .name = "Tile",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
    .gradient = gradient_tile,
};

}  // namespace ingot::ops
