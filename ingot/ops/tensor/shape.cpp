// Shape and Size: the dimensions of a tensor as values, where all shape arithmetic begins.
#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer_shape(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return c.out_rank(0, 1);
  const auto rank = static_cast<std::int64_t>(x->size());
  const auto clamped = [&](std::int64_t i) { return std::clamp(i < 0 ? i + rank : i, std::int64_t{0}, rank); };
  const std::int64_t start = clamped(c.attr("start", std::int64_t{0}));
  const std::int64_t end = std::max(start, clamped(c.attr("end", rank)));
  c.out_ints(0, {x->begin() + start, x->begin() + end});
  c.out_shape(0, {end - start});
}

void infer_size(InferContext& c) {
  if (const Shape* x = c.shape(0)) c.out_ints(0, {product(*x)});
  c.out_shape(0, {});
}

// Before 15: Shape(x, start, end) = Slice(Shape(x), start, end).
void down_to_whole_shape(StepContext& c) {
  const std::int64_t start = c.node.attributes.int_or("start", 0);
  const auto* end = c.node.attributes.get<std::int64_t>("end");
  if (start == 0 && !end) {
    c.node.attributes.erase("start");
    return;
  }
  constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();
  Value* whole = c.g.shape(c.node.input(0));
  c.replace({c.g.op("Slice", {whole, c.g.ints({start}), c.g.ints({end ? *end : kToTheEnd})})});
}

constexpr Step kShapeSteps[] = {{.since = 15, .down = down_to_whole_shape}};

void run_shape(KernelContext& c) {
  const Dims& dims = c.in(0).dims();
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto clamped = [&](std::int64_t i) { return std::clamp(i < 0 ? i + rank : i, std::int64_t{0}, rank); };
  const std::int64_t start = clamped(c.attr("start", std::int64_t{0}));
  const std::int64_t end = std::max(start, clamped(c.attr("end", rank)));
  Array& y = c.make(0, DType::i64, {end - start});
  std::copy(dims.begin() + start, dims.begin() + end, y.mutable_data<std::int64_t>().begin());
}

void run_size(KernelContext& c) { c.set(0, Array::scalar<std::int64_t>(c.in(0).size())); }

}  // namespace

constinit const OpDef defs::Shape = {
    .name = "Shape",
    .infer = infer_shape,
    .steps = kShapeSteps,
    .kernel = run_shape,
};
constinit const OpDef defs::Size = {
    .name = "Size",
    .infer = infer_size,
    .kernel = run_size,
};

}  // namespace ingot::ops
