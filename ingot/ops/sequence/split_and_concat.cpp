// SplitToSequence and ConcatFromSequence: between one tensor and a sequence of its parts.
#include "ingot/ops/catalog.h"
#include "ingot/ops/controlflow/merge_types.h"

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

}  // namespace

constinit const OpDef defs::SplitToSequence = {
    .name = "SplitToSequence",
    .infer = infer_split,
};
constinit const OpDef defs::ConcatFromSequence = {
    .name = "ConcatFromSequence",
    .infer = infer_concat,
};

}  // namespace ingot::ops
