// Squeeze: removes dimensions of size 1.
#include <algorithm>

#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/short_list.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/negative_axes.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {
    {.since = 11, .down = [](StepContext& c) { count_axes_from_front(c, "axes"); }},
    {.since = 13,
     .up = [](StepContext& c) { c.attribute_to_input("axes", 1); },
     .down = [](StepContext& c) { c.input_to_attribute(1, "axes"); }},
};

void infer(InferContext& c) {
  require_short_list(c, 1);
  const Shape* x = c.shape(0);
  if (!x) return;
  const auto rank = static_cast<std::int64_t>(x->size());
  std::vector<bool> drop(x->size(), false);
  if (c.has(1)) {
    const auto axes = c.const_ints(1);
    if (!axes) {
      const auto count = c.dim(1, 0).as_int();
      c.require(!count || *count <= rank, "more axes are named than the tensor has");
      if (count && *count >= 0) c.out_rank(0, rank - *count);
      return;
    }
    for (const std::int64_t a : *axes) {
      const auto i = static_cast<std::size_t>(c.axis(a, rank, "axes"));
      if (!may_equal((*x)[i], 1)) c.fail("dimension " + std::to_string(i) + " is " + (*x)[i].str() + ", not 1");
      drop[i] = true;
    }
  } else {
    for (std::size_t i = 0; i < x->size(); ++i) {
      if (!(*x)[i].is_known() && may_equal((*x)[i], 1)) return;  // whether it is 1 decides the rank
      drop[i] = (*x)[i].is_known() && (*x)[i].value() == 1;
    }
  }
  Shape y;
  for (std::size_t i = 0; i < x->size(); ++i)
    if (!drop[i]) y.push_back((*x)[i]);
  if (auto known = c.ints(0)) c.out_ints(0, std::move(*known));  // [n] squeezed to a scalar is the same element
  c.out_shape(0, std::move(y));
}

Values gradient_squeeze(GradContext& c) { return {c.shaped(c.dy(), c.x())}; }

void run(KernelContext& c) {
  const Array& x = c.in(0);
  std::vector<bool> drop(x.dims().size(), false);
  if (c.has(1)) {
    for (const std::int64_t a : list_of_ints(c, 1)) {
      const auto axis = static_cast<std::size_t>(c.axis(a, x.rank()));
      if (x.dims()[axis] != 1)
        c.fail("dimension " + std::to_string(axis) + " is " + std::to_string(x.dims()[axis]) + ", not 1");
      drop[axis] = true;
    }
  } else {
    for (std::size_t i = 0; i < drop.size(); ++i) drop[i] = x.dims()[i] == 1;
  }
  Dims y;
  for (std::size_t i = 0; i < drop.size(); ++i)
    if (!drop[i]) y.push_back(x.dims()[i]);
  c.set(0, x.reshaped(std::move(y)));
}

}  // namespace

constinit const OpDef defs::Squeeze = {
    .name = "Squeeze",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
    .gradient = gradient_squeeze,
};

}  // namespace ingot::ops
