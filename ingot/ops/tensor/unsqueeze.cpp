// Unsqueeze: adds dimensions of size 1.
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/short_list.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/negative_axes.h"

namespace ingot::ops {
namespace {

void down_to_axes_from_front(StepContext& c) {
  const auto* axes = c.node.attributes.get<std::vector<std::int64_t>>("axes");
  if (axes) count_axes_from_front(c, "axes", static_cast<std::int64_t>(axes->size()));
}

constexpr Step kSteps[] = {
    {.since = 11, .down = down_to_axes_from_front},
    {.since = 13,
     .up = [](StepContext& c) { c.attribute_to_input("axes", 1); },
     .down = [](StepContext& c) { c.input_to_attribute(1, "axes"); }},
};

void infer(InferContext& c) {
  require_short_list(c, 1);
  const Shape* x = c.shape(0);
  if (!x) return;
  const auto axes = c.const_ints(1);
  if (!axes) {
    const auto count = c.dim(1, 0).as_int();
    if (count && *count >= 0) c.out_rank(0, static_cast<std::int64_t>(x->size()) + *count);
    return;
  }
  const std::size_t size = x->size() + axes->size();
  if (size > static_cast<std::size_t>(kMostDims)) c.fail("rank " + std::to_string(size) + " is too high");
  std::vector<bool> added(size, false);
  for (const std::int64_t a : *axes) {
    const auto i = static_cast<std::size_t>(c.axis(a, static_cast<std::int64_t>(size), "axes"));
    c.require(!added[i], "axes name a dimension twice");
    added[i] = true;
  }
  Shape y;
  auto next = x->begin();
  for (std::size_t i = 0; i < size; ++i) y.push_back(added[i] ? Dim(1) : *next++);
  if (size <= 1)
    if (auto known = c.ints(0)) c.out_ints(0, std::move(*known));
  c.out_shape(0, std::move(y));
}

Values gradient_unsqueeze(GradContext& c) { return {c.shaped(c.dy(), c.x())}; }

void run(KernelContext& c) {
  const Array& x = c.in(0);
  const std::vector<std::int64_t> axes = c.in(1).to_ints();  // some files give a scalar
  const std::size_t rank = x.dims().size() + axes.size();
  if (rank > static_cast<std::size_t>(kMostDims)) c.fail("rank " + std::to_string(rank) + " is too high");
  Dims y(rank, 0);
  for (const std::size_t axis : distinct_axes(c, axes, static_cast<std::int64_t>(rank))) y[axis] = 1;
  std::size_t next = 0;
  for (std::int64_t& d : y)
    if (d == 0) d = x.dims()[next++];
  c.set(0, x.reshaped(std::move(y)));
}

}  // namespace

constinit const OpDef defs::Unsqueeze = {
    .name = "Unsqueeze",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
    .gradient = gradient_unsqueeze,
};

}  // namespace ingot::ops
