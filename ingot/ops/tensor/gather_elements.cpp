// GatherElements and GatherND: single elements or slices, picked by an index per element or by index tuples.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/places.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

void infer_elements(InferContext& c) {
  const Shape *x = c.shape(0), *indices = c.shape(1);
  if (x) c.axis(c.attr("axis", std::int64_t{0}), static_cast<std::int64_t>(x->size()));
  if (x && indices && x->size() != indices->size()) c.fail("data and indices differ in rank");
  if (indices) return c.out_shape(0, *indices);
  if (x) c.out_rank(0, static_cast<std::int64_t>(x->size()));
}

// y = batch dims, the rest of the indices' dims but the last, and what one tuple leaves of data's dims
void infer_nd(InferContext& c) {
  const Shape *x = c.shape(0), *indices = c.shape(1);
  const std::int64_t batch = c.attr("batch_dims", std::int64_t{0});
  c.require(batch >= 0, "batch_dims is negative");
  for (const Shape* s : {x, indices})
    if (s && batch >= static_cast<std::int64_t>(s->size())) c.fail("batch_dims is not smaller than the ranks");
  if (!indices) return;
  const Dim& tuple = indices->back();
  if (!x || !tuple.is_known()) return;
  const auto rank = static_cast<std::int64_t>(x->size());
  if (tuple.value() < 0 || tuple.value() > rank - batch)
    c.fail("index tuples have " + tuple.str() + " entries, data has rank " + std::to_string(rank));
  Shape y;
  for (std::int64_t i = 0; i < batch; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Dim &a = (*x)[k], &b = (*indices)[k];
    if (!may_equal(a, b)) c.fail("batch dimension " + std::to_string(i) + ": " + a.str() + " is not " + b.str());
    y.push_back(a.is_known() || b.is_unknown() ? a : b);
  }
  y.insert(y.end(), indices->begin() + batch, indices->end() - 1);
  y.insert(y.end(), x->begin() + batch + tuple.value(), x->end());
  c.out_shape(0, std::move(y));
}

Values gradient_gather_elements(GradContext& c) {
  const std::int64_t axis = c.attr("axis", std::int64_t{0});
  Value* zeros = c.zeros(c.x());
  return {c.g.op("ScatterElements", {zeros, c.x(1), c.dy()}, {{"axis", axis}, {"reduction", "add"}})};
}

Values gradient_gather_nd(GradContext& c) {
  if (c.attr("batch_dims", std::int64_t{0}) == 0)
    return {c.g.op("ScatterND", {c.zeros(c.x()), c.x(1), c.dy()}, {{"reduction", "add"}})};
  return {c.back_to_picked(c.x(), c.dy(), [&](Value* places) {
    return c.g.op("GatherND", {places, c.x(1)}, c.same_attrs({"batch_dims"}));
  })};
}

void run_elements(KernelContext& c) {
  const Array &x = c.in(0), &indices = c.in(1);
  const Array places = places_of_elements(c, x, indices, c.axis(c.attr("axis", std::int64_t{0}), x.rank()));
  Array& y = c.make(0, x.dtype(), indices.dims());
  dispatch_cell(x.dtype(), [&]<class T>() {
    T* out = cells<T>(y);
    for (const std::int64_t place : places.data<std::int64_t>()) *out++ = cells<T>(x)[place];
  });
}

void run_nd(KernelContext& c) {
  const Array& x = c.in(0);
  const Slices slices = slices_of_tuples(c, x, c.in(1), c.attr("batch_dims", std::int64_t{0}));
  Array& y = c.make(0, x.dtype(), slices.dims);
  if (y.size() == 0) return;
  WorkMeter meter(c.host().budget());
  std::int64_t to = 0;
  for (const std::int64_t place : slices.places.data<std::int64_t>()) {
    copy_elements(x, place, y, to, slices.size);
    to += slices.size;
    meter.did(slices.size);
  }
}

}  // namespace

constinit const OpDef defs::GatherElements = {
    .name = "GatherElements",
    .infer = infer_elements,
    .kernel = run_elements,
    .gradient = gradient_gather_elements,
};
constinit const OpDef defs::GatherND = {
    .name = "GatherND",
    .infer = infer_nd,
    .kernel = run_nd,
    .gradient = gradient_gather_nd,
};

}  // namespace ingot::ops
