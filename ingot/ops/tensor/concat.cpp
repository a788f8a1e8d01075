// Concat: tensors one after the other along an axis.
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/negative_axes.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {
    {.since = 4,
     .up =
         [](StepContext& c) {
           c.node.attributes.set(Attribute("axis", AttrValue(c.node.attributes.int_or("axis", 1))));
         }},
    {.since = 11, .down = down_to_axis_from_front},
};

// What is known of the elements of lists put together; an unknown element is better than no list.
void infer_values(InferContext& c) {
  std::vector<Dim> all;
  bool any = false;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    if (c.rank(i) && *c.rank(i) != 1) return;
    if (const auto part = c.ints(i)) {
      all.insert(all.end(), part->begin(), part->end());
      any = true;
    } else {
      const auto count = c.dim(i, 0).as_int();
      if (!count || *count < 0 || *count > kMostDims || !is_integer(c.elem(i))) return;
      all.resize(all.size() + static_cast<std::size_t>(*count));
    }
    if (all.size() > 1024) return;
  }
  if (any) c.out_ints(0, std::move(all));
}

void infer(InferContext& c) {
  c.require(c.input_count() > 0, "there is nothing to concatenate");
  const auto axis = c.need_int("axis");
  std::optional<std::int64_t> rank;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    const auto r = c.rank(i);
    if (r && rank && *r != *rank) c.fail("ranks differ: " + std::to_string(*rank) + " and " + std::to_string(*r));
    if (r) rank = r;
  }
  if (!rank) return;
  if (!axis) return c.out_rank(0, *rank);
  const auto along = static_cast<std::size_t>(c.axis(*axis, *rank));
  Shape y(static_cast<std::size_t>(*rank));
  y[along] = 0;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    const Shape* x = c.shape(i);
    if (!x) {
      y[along] = Dim();
      continue;
    }
    for (std::size_t k = 0; k < y.size(); ++k) {
      const Dim& d = (*x)[k];
      if (k == along) {
        y[k] = y[k] + d;
      } else if (!may_equal(y[k], d)) {
        c.fail("dimension " + std::to_string(k) + " differs: " + y[k].str() + " and " + d.str());
      } else if (y[k].is_unknown() || d.is_known()) {
        y[k] = d;
      }
    }
  }
  c.out_shape(0, std::move(y));
  if (*rank == 1) infer_values(c);
}

Values gradient_concat(GradContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t axis = c.attr("axis", std::int64_t{0});
  if (c.node.input_count() == 1) return {c.dy()};
  Values sizes;
  for (Value* x : c.node.inputs()) sizes.push_back(size_along(g, x, axis));
  return g.op("Split", {c.dy(), g.concat(sizes, 0)}, {{"axis", axis}}, sizes.size());
}

void run(KernelContext& c) {
  std::vector<Array> parts;
  for (std::size_t i = 0; i < c.input_count(); ++i) parts.push_back(c.in(i));
  c.set(0, joined(c, parts, c.attr("axis", std::int64_t{0})));
}

}  // namespace

constinit const OpDef defs::Concat = {
    .name = "Concat",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
    .gradient = gradient_concat,
};

}  // namespace ingot::ops
