// SplitToSequence and ConcatFromSequence: between one tensor and a sequence of its parts.
#include "ingot/ops/catalog.h"
#include "ingot/ops/controlflow/merge_types.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/sequence/elements.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::ops {
namespace {

// The size that all parts have along the axis, if there is one.
Dim part_size(InferContext& c, const Dim& whole) {
  const auto split = c.ints(1);
  const auto rank = c.rank(1);
  if (!split || !rank) return {};
  for (const Dim& size : *split)
    if (size.is_known() && size.value() < 0) c.fail("a part has size " + size.str());
  if (*rank == 0 && split->size() == 1) {
    if (split->front().is_known() && split->front().value() == 0) c.fail("a part has size 0");
    return same(mod(whole, split->front()), Dim(0)) ? split->front() : Dim();
  }
  for (std::size_t i = 1; i < split->size(); ++i)
    if (!same((*split)[i], split->front())) return {};
  return split->empty() ? Dim() : split->front();
}

void infer_split(InferContext& c) {
  if (const auto rank = c.rank(1); rank && *rank > 1) c.fail("the sizes of the parts are no list");
  Type element = Type::tensor(c.elem(0));
  if (const Shape* x = c.shape(0)) {
    const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), static_cast<std::int64_t>(x->size()));
    element.shape = *x;
    Dim& along = (*element.shape)[static_cast<std::size_t>(axis)];
    if (c.has(1))
      along = part_size(c, along);
    else if (c.attr("keepdims", std::int64_t{1}) != 0)
      along = 1;
    else
      element.shape->erase(element.shape->begin() + axis);
  }
  c.out(0, Type::sequence(std::move(element)));
}

// How many elements the sequence has, or what they have together along an axis, where it is made before our eyes.
Dim constructed_size(const InferContext& c, std::int64_t axis, bool is_new) {
  const Node* maker = c.node().input(0) ? c.node().input(0)->producer() : nullptr;
  constexpr std::size_t kMostElements = 1024;  // many readers of one long sequence must not take quadratic time
  if (!maker || !maker->is("SequenceConstruct") || maker->input_count() > kMostElements) return c.data_dim(0, axis);
  if (is_new) return static_cast<std::int64_t>(maker->input_count());
  Dim sum = 0;
  for (const Value* element : maker->inputs()) {
    if (!element) return c.data_dim(0, axis);
    const auto& shape = element->type.shape;
    sum = sum +
          (shape && static_cast<std::size_t>(axis) < shape->size() ? (*shape)[static_cast<std::size_t>(axis)] : Dim());
  }
  return sum.is_unknown() ? c.data_dim(0, axis) : sum;
}

void infer_concat(InferContext& c) {
  const Type& sequence = c.type(0);
  if (sequence && !sequence.is_sequence()) c.fail("the input is " + sequence.schema_name() + ", not a sequence");
  const auto axis = c.need_int("axis");
  const std::int64_t new_axis = c.attr("new_axis", std::int64_t{0});
  c.require(new_axis == 0 || new_axis == 1, "new_axis is neither 0 nor 1");
  const Type& element = sequence.inner();
  if (!element) return;
  Type all = Type::tensor(element.elem);
  if (axis && element.shape) {
    all.shape = *element.shape;
    const auto rank = static_cast<std::int64_t>(all.shape->size());
    if (new_axis) {
      const std::int64_t at = c.axis(*axis, rank + 1);
      all.shape->insert(all.shape->begin() + at, constructed_size(c, at, true));
      c.require(all.shape->size() <= static_cast<std::size_t>(kMostDims), "the rank is too high");
    } else {
      const std::int64_t at = c.axis(*axis, rank);
      (*all.shape)[static_cast<std::size_t>(at)] = constructed_size(c, at, false);
    }
  }
  c.out(0, std::move(all));
}

std::vector<std::int64_t> run_sizes(const KernelContext& c, std::int64_t whole) {
  if (c.has(1) && c.in(1).rank() > 0) return list_of_ints(c, 1);
  const std::int64_t size = c.has(1) ? single_int(c, 1) : 1;
  if (size <= 0) c.fail("a part has size " + std::to_string(size));
  std::vector<std::int64_t> sizes;
  for (std::int64_t left = whole; left > 0; left -= sizes.back()) sizes.push_back(std::min(size, left));
  return sizes;
}

void run_split(KernelContext& c) {
  const Array& x = c.in(0);
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), x.rank());
  const bool drops = !c.has(1) && c.attr("keepdims", std::int64_t{1}) == 0;
  const std::int64_t whole = x.dims()[static_cast<std::size_t>(axis)];
  std::int64_t first = 0;
  Sequence parts;
  for (const std::int64_t size : run_sizes(c, whole)) {
    if (size < 0 || size > whole - first) c.fail("the sizes of the parts do not fit " + std::to_string(whole));
    Array part = part_of(c, x, axis, first, size);
    first += size;
    if (drops) {
      Dims dims = part.dims();
      dims.erase(dims.begin() + axis);
      part = part.reshaped(std::move(dims));
    }
    parts.push_back(std::move(part));
  }
  if (first != whole) c.fail("the parts leave " + std::to_string(whole - first) + " elements");
  c.set(0, std::move(parts));
}

void run_concat(KernelContext& c) {
  const Sequence* sequence = c.has(0) ? c.datum(0).sequence() : nullptr;
  if (!sequence) c.fail("the input is not a sequence");
  std::vector<Array> parts;
  for (const Datum& element : *sequence) {
    if (!element.array()) c.fail("an element is not a tensor");
    parts.push_back(*element.array());
  }
  const std::int64_t axis = c.attr("axis", std::int64_t{0});
  c.set(0, c.attr("new_axis", std::int64_t{0}) ? stacked(c, std::move(parts), axis) : joined(c, parts, axis));
}

Values gradient_split(GradContext& c) {
  const bool drops = !c.has(1) && c.attr("keepdims", std::int64_t{1}) == 0;
  Value* all = c.g.op("ConcatFromSequence", {c.dy()}, {{"axis", c.attr("axis", std::int64_t{0})}, {"new_axis", drops}});
  return {c.shaped(all, c.x())};
}

Values gradient_concat(GradContext& c) {
  const std::int64_t axis = c.attr("axis", std::int64_t{0});
  if (c.attr("new_axis", std::int64_t{0}) != 0)
    return {c.g.op("SplitToSequence", {c.dy()}, {{"axis", axis}, {"keepdims", 0}})};
  Value* sizes = map_sequences(c.g, {c.x()}, [&](GraphBuilder& inner, const Values& x) {
    Value* shape = inner.shape(x[0]);
    return inner.op("Gather", {shape, inner.ints({axis})});
  });
  Value* split = c.g.op("ConcatFromSequence", {sizes}, {{"axis", 0}});
  return {c.g.op("SplitToSequence", {c.dy(), split}, {{"axis", axis}})};
}

}  // namespace

constinit const OpDef defs::SplitToSequence = {
    .name = "SplitToSequence",
    .infer = infer_split,
    .kernel = run_split,
    .gradient = gradient_split,
};
constinit const OpDef defs::ConcatFromSequence = {
    .name = "ConcatFromSequence",
    .infer = infer_concat,
    .kernel = run_concat,
    .gradient = gradient_concat,
};

}  // namespace ingot::ops
