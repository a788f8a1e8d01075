// Gather: slices of a tensor, picked along one axis by their indices.
#include <algorithm>

#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/negative_axes.h"

namespace ingot::ops {
namespace {

// Before 11, neither the axis nor an index could count from the back: i < 0 becomes i + size.
void down_to_indices_from_front(StepContext& c) {
  count_axes_from_front(c);
  if (const Tensor* indices = c.constant(1)) {
    const auto values = indices->to_ints();
    if (std::ranges::all_of(values, [](std::int64_t i) { return i >= 0; })) return;
  }
  Value* indices = c.node.input(1);
  const DType elem = c.type(1).elem;
  if (elem == DType::undefined) c.cannot("the element type of the indices is not known");
  Value* axis = c.g.index(c.node.attributes.int_or("axis", 0));
  Value* size = c.g.op("Gather", {c.g.shape(c.node.input(0)), axis}, {{"axis", 0}});
  if (elem != DType::i64) size = c.g.op("Cast", {size}, {{"to", elem}});
  Value* is_negative = c.g.op("Less", {indices, c.g.scalar(0, elem)});
  c.node.set_input(1, c.g.where(is_negative, c.g.add(indices, size), indices));
}

constexpr Step kSteps[] = {{.since = 11, .down = down_to_indices_from_front}};

void infer_values(InferContext& c) {
  const auto data = c.ints(0);
  const auto indices = c.ints(1);
  const auto rank = c.rank(1);
  if (!data || !indices || !rank || *rank > 1) return;
  std::vector<Dim> picked;
  for (const Dim& index : *indices) {
    const auto i = index.as_int();
    picked.push_back(i ? (*data)[static_cast<std::size_t>(c.axis(*i, static_cast<std::int64_t>(data->size()), "index"))]
                       : Dim());
  }
  c.out_ints(0, std::move(picked));
}

void infer(InferContext& c) {
  const Shape *x = c.shape(0), *indices = c.shape(1);
  if (!x) return;
  const auto rank = static_cast<std::int64_t>(x->size());
  c.require(rank > 0, "a scalar has no axis to gather from");
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), rank);
  if (!indices) return;
  Shape y(x->begin(), x->begin() + axis);
  y.insert(y.end(), indices->begin(), indices->end());
  y.insert(y.end(), x->begin() + axis + 1, x->end());
  c.out_shape(0, std::move(y));
  if (rank == 1) infer_values(c);
}

// Slices that were read more than once get the sum.
Values gradient_gather(GradContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t rank = c.rank(), axis = c.axis(c.attr("axis", std::int64_t{0}));
  Value* zeros = c.zeros(c.x());
  Value* shape = g.shape(c.x());
  Value* after = g.op("Slice", {shape, g.ints({axis + 1}), g.ints({rank})});
  if (axis == 0) {
    Value* places = g.reshape(c.x(1), {-1, 1});
    Value* slices =
        g.op("Reshape", {c.dy(), g.concat({g.shape(g.reshape(c.x(1), {-1})), after}, 0)}, {{"allowzero", 1}});
    return {g.op("ScatterND", {zeros, places, slices}, {{"reduction", "add"}})};
  }
  Value* before = g.op("Slice", {shape, g.ints({0}), g.ints({axis})});
  Value* count = g.unsqueeze(g.op("Size", {c.x(1)}), {0});
  Value* dims = g.concat({before, count, after}, 0);
  Value* slices = g.op("Reshape", {c.dy(), dims}, {{"allowzero", 1}});
  std::vector<std::int64_t> column(static_cast<std::size_t>(rank), 1);
  column[static_cast<std::size_t>(axis)] = -1;
  Value* places = g.op("Expand", {g.reshape(c.x(1), column), dims});
  return {g.op("ScatterElements", {zeros, places, slices}, {{"axis", axis}, {"reduction", "add"}})};
}

void run(KernelContext& c) {
  const Array &x = c.in(0), &indices = c.in(1);
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), x.rank());
  const Blocks from = blocks_along(x.dims(), axis);
  Dims dims(x.dims().begin(), x.dims().begin() + axis);
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), x.dims().begin() + axis + 1, x.dims().end());
  Array& y = c.make(0, x.dtype(), std::move(dims));
  std::vector<std::int64_t> rows = indices.to_ints();
  for (std::int64_t& row : rows) row = index_within(c, row, from.size);
  if (y.size() == 0) return;
  WorkMeter meter(c.host().budget());
  std::int64_t to = 0;
  for (std::int64_t block = 0; block < from.outer; ++block) {
    for (const std::int64_t row : rows) {
      copy_elements(x, (block * from.size + row) * from.inner, y, to, from.inner);
      to += from.inner;
      meter.did(from.inner);
    }
  }
}

}  // namespace

constinit const OpDef defs::Gather = {
    .name = "Gather",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
    .gradient = gradient_gather,
};

}  // namespace ingot::ops
