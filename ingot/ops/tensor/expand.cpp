// Expand: repeats dimensions of size 1 as broadcasting with a given shape would.
#include <algorithm>

#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/moves.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const Shape* x = c.shape(0);
  const auto wanted = c.ints(1);
  if (!wanted) {
    const auto rank = c.dim(1, 0).as_int();
    if (x && rank && *rank >= 0) c.out_rank(0, std::max(*rank, static_cast<std::int64_t>(x->size())));
    return c.name_open_dims(0);
  }
  for (const Dim& d : *wanted)
    if (d.is_known() && d.value() < 0) c.fail("the shape has a dimension of " + d.str());
  if (!x) return;
  Shape y = broadcast(c, *x, *wanted);
  if (y.size() <= 1) {
    const auto known = c.ints(0);
    const Dim count = product(y);
    if (known && known->size() == 1 && count.is_known() && count.value() >= 0 && count.value() <= 1024)
      c.out_ints(0, std::vector<Dim>(static_cast<std::size_t>(count.value()), known->front()));
    else if (known && count.is_known() && static_cast<std::int64_t>(known->size()) == count.value())
      c.out_ints(0, *known);
  }
  c.out_shape(0, std::move(y));
  if (std::ranges::any_of(*wanted, [](const Dim& d) { return d.is_unknown(); })) c.name_open_dims(0);
}

Values gradient_expand(GradContext& c) { return {c.sum_to(c.dy(), c.x())}; }

void run(KernelContext& c) {
  const Array& x = c.in(0);
  const Move move = read_expand(c);
  if (move.dims == x.dims()) return c.set(0, x);
  Array& y = c.make(0, x.dtype(), move.dims);
  gather_walk(move.walk, x, 0, y, c.host().budget());
}

}  // namespace

Move read_expand(KernelContext& c) {
  const Array& x = c.in(0);
  const Dims wanted = list_of_ints(c, 1);
  for (const std::int64_t d : wanted)
    if (d < 0) c.fail("the shape has a dimension of " + std::to_string(d));
  Dims dims = broadcast_dims(c, {&x.dims(), &wanted});
  Walk walk = broadcast(dims, {&x.dims()});
  return {std::move(dims), std::move(walk)};
}

constinit const OpDef defs::Expand = {
    .name = "Expand",
    .infer = infer,
    .kernel = run,
    .gradient = gradient_expand,
};

}  // namespace ingot::ops
