// Compress, NonZero, Unique: what is left is decided by the data.
#include <algorithm>

#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/negative_axes.h"

namespace ingot::ops {
namespace {

constexpr Step kCompressSteps[] = {{.since = 11, .down = down_to_axis_from_front}};

void infer_compress(InferContext& c) {
  if (const auto rank = c.rank(1); rank && *rank != 1) c.fail("the condition is not a list");
  const auto* axis = c.node().attributes.get<std::int64_t>("axis");
  Dim count = c.data_dim(0, 0);
  if (const auto condition = c.const_ints(1))
    count = static_cast<std::int64_t>(std::ranges::count_if(*condition, [](std::int64_t b) { return b != 0; }));
  if (!axis && !c.node().attributes.has("axis")) return c.out_shape(0, {count});
  const Shape* x = c.shape(0);
  if (!x || !axis) return;
  Shape y = *x;
  y[static_cast<std::size_t>(c.axis(*axis, static_cast<std::int64_t>(y.size())))] = count;
  c.out_shape(0, std::move(y));
}

void infer_non_zero(InferContext& c) {
  const auto rank = c.rank(0);
  // Of a scalar there is no agreed answer: no row, or one.
  c.out_shape(0, {rank && *rank > 0 ? Dim(*rank) : Dim(), c.data_dim(0, 1)});
}

// One size for all: every output but the inverse has one entry per distinct element or slice.
void infer_unique(InferContext& c) {
  const auto* axis = c.node().attributes.get<std::int64_t>("axis");
  const Shape* x = c.shape(0);
  Dim all;
  if (!axis) {
    if (x) all = product(*x);
    c.out_shape(0, {c.data_dim(0, 0)});
  } else if (x) {
    const auto i = static_cast<std::size_t>(c.axis(*axis, static_cast<std::int64_t>(x->size())));
    all = (*x)[i];
    Shape y = *x;
    y[i] = c.data_dim(0, 0);
    c.out_shape(0, std::move(y));
  }
  c.out_shape(1, {c.data_dim(0, 0)});
  c.out_shape(2, {all});
  c.out_shape(3, {c.data_dim(0, 0)});
}

Values gradient_compress(GradContext& c) {
  return {c.back_to_picked(c.x(), c.dy(), [&](Value* places) {
    return c.g.op("Compress", {places, c.x(1)}, c.same_attrs({"axis"}));
  })};
}

}  // namespace

constinit const OpDef defs::Compress = {
    .name = "Compress",
    .infer = infer_compress,
    .steps = kCompressSteps,
    .gradient = gradient_compress,
};
constinit const OpDef defs::NonZero = {
    .name = "NonZero",
    .infer = infer_non_zero,
};
constinit const OpDef defs::Unique = {
    .name = "Unique",
    .infer = infer_unique,
};

}  // namespace ingot::ops
