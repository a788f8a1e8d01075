// Slice: every step-th element from start to end, along some axes.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/short_list.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/moves.h"
#include "ingot/ops/tensor/negative_axes.h"

namespace ingot::ops {
namespace {

void up_to_inputs(StepContext& c) {
  c.attribute_to_input("starts", 1);
  c.attribute_to_input("ends", 2);
  c.attribute_to_input("axes", 3);
}

void down_to_attributes(StepContext& c) {
  if (c.node.input(4)) {
    const auto steps = c.need_ints(4, "the steps");
    if (std::ranges::any_of(steps, [](std::int64_t s) { return s != 1; })) c.cannot("the steps are not 1");
    c.node.set_input(4, nullptr);
  }
  c.input_to_attribute(3, "axes");
  c.input_to_attribute(2, "ends");
  c.input_to_attribute(1, "starts");
}

void down_to_axes_from_front(StepContext& c) {
  if (!c.node.input(3)) return;
  auto axes = c.need_ints(3, "the axes");
  if (std::ranges::all_of(axes, [](std::int64_t a) { return a >= 0; })) return;
  const std::int64_t rank = c.need_rank(0);
  for (std::int64_t& a : axes)
    if (a < 0) a += rank;
  // starts, ends, axes and steps have one element type
  Value* made = c.g.ints(axes);
  c.node.set_input(3, c.type(3).elem == DType::i32 ? c.g.cast(made, DType::i32) : made);
}

constexpr Step kSteps[] = {
    {.since = 10, .up = up_to_inputs, .down = down_to_attributes},
    {.since = 11, .down = down_to_axes_from_front},
};

// A position that may count from the back; nothing when its sign is not known.
Dim from_front(const Dim& position, const Dim& size) {
  if (position.is_at_least(0)) return position;
  if ((-position).is_at_least(1)) return size + position;
  return {};
}

// Files write the ends of 32 or 64 bits for "to the end".
bool is_beyond_all(const Dim& d, const Dim& size) {
  return d.is_known() && d.value() >= (size.is_known() ? size.value() : std::numeric_limits<std::int32_t>::max());
}
bool is_before_all(const Dim& d, const Dim& size) {
  return d.is_known() && d.value() <= (size.is_known() ? -size.value() - 1 : std::numeric_limits<std::int32_t>::min());
}

Dim sliced_size(const Dim& size, const Dim& start, const Dim& end, std::int64_t step) {
  if (step > 0) {
    // Only the ends that cut are clamped: what lies beyond the other end makes the difference negative.
    const Dim first = is_before_all(start, size) ? Dim(0) : max(from_front(start, size), 0);
    const Dim last = is_beyond_all(end, size) ? size : min(from_front(end, size), size);
    return max(ceil_div(last - first, step), 0);
  }
  if (step == std::numeric_limits<std::int64_t>::min()) return min(size, 1);
  const Dim begin = is_before_all(start, size) ? Dim(0) : max(from_front(start, size), 0);
  const Dim first = is_beyond_all(start, size) ? size - 1 : min(begin, size - 1);
  const Dim last = is_before_all(end, size) ? Dim(-1) : max(from_front(end, size), -1);
  return max(ceil_div(first - last, -step), 0);
}

// The elements of a list, cut with numbers only.
void infer_values(InferContext& c, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto known = c.ints(0);
  if (!known) return;
  const auto size = static_cast<std::int64_t>(known->size());
  const auto place = [&](std::int64_t i, std::int64_t lo, std::int64_t hi) {
    return std::clamp(i < 0 ? i + size : i, lo, std::max(lo, hi));
  };
  std::vector<Dim> values;
  if (step > 0) {
    const std::int64_t last = place(end, 0, size);
    for (std::int64_t i = place(start, 0, size); i < last; i += std::min(step, size + 1))
      values.push_back((*known)[static_cast<std::size_t>(i)]);
  } else if (size > 0) {
    const std::int64_t last = place(end, -1, size - 1);
    for (std::int64_t i = place(start, 0, size - 1); i > last; i += std::max(step, -size - 1))
      values.push_back((*known)[static_cast<std::size_t>(i)]);
  }
  c.out_ints(0, std::move(values));
}

void infer(InferContext& c) {
  for (std::size_t i = 1; i < 5; ++i) require_short_list(c, i);
  const Shape* x = c.shape(0);
  if (!x) return;
  const auto rank = static_cast<std::int64_t>(x->size());
  const auto starts = c.ints(1), ends = c.ints(2);
  std::optional<std::vector<std::int64_t>> axes, steps;
  std::optional<std::size_t> count;
  for (const auto* list : {&starts, &ends})
    if (*list) count = (*list)->size();
  for (std::size_t i = 1; i < 5; ++i)
    if (const auto n = c.dim(i, 0).as_int(); n && *n >= 0) {
      c.require(*n <= rank, "more axes are named than the tensor has");
      if (!count) count = static_cast<std::size_t>(*n);
    }
  if (c.has(3)) {
    axes = c.const_ints(3);
  } else if (count) {
    axes.emplace(*count);
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (c.has(4)) {
    steps = c.const_ints(4);
    if (steps && std::ranges::find(*steps, 0) != steps->end()) c.fail("a step is 0");
  } else if (axes) {
    steps.emplace(axes->size(), 1);
  }
  if (!axes) {
    c.out_rank(0, rank);
    return c.name_open_dims(0);
  }
  for (const std::optional<std::vector<Dim>>* list : {&starts, &ends})
    c.require(!*list || (*list)->size() == axes->size(), "starts, ends and axes differ in length");
  c.require(!steps || steps->size() == axes->size(), "steps and axes differ in length");

  Shape y = *x;
  std::vector<bool> seen(x->size(), false);
  for (std::size_t k = 0; k < axes->size(); ++k) {
    const auto i = static_cast<std::size_t>(c.axis((*axes)[k], rank, "axes"));
    c.require(!seen[i], "axes name a dimension twice");
    seen[i] = true;
    const bool known = starts && ends && steps;
    y[i] = known ? sliced_size((*x)[i], (*starts)[k], (*ends)[k], (*steps)[k]) : Dim();
    if (y[i].is_unknown() && !(*x)[i].is_unknown()) y[i] = c.data_dim(0, static_cast<std::int64_t>(i));
  }
  if (rank == 1 && starts && ends && steps && axes->size() == 1) {
    const auto start = starts->front().as_int(), end = ends->front().as_int();
    if (start && end) infer_values(c, *start, *end, steps->front());
  }
  c.out_shape(0, std::move(y));
}

/// The elements of an operand as far as they are known before a run.
std::optional<std::vector<std::int64_t>> known_numbers(GradContext& c, std::size_t i) {
  if (const Tensor* tensor = c.constant(i)) return tensor->to_ints();
  if (!c.has(i) || !c.x(i)->known_ints) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Dim& d : *c.x(i)->known_ints) {
    if (!d.is_known()) return std::nullopt;
    numbers.push_back(d.value());
  }
  return numbers;
}

/// The padding that undoes a slice of steps of one, where all numbers of it are known.
std::optional<std::vector<std::int64_t>> undoing_pads(GradContext& c) {
  const auto starts = known_numbers(c, 1), ends = known_numbers(c, 2), axes = known_numbers(c, 3);
  const auto steps = known_numbers(c, 4);
  if (!starts || !ends || (c.has(3) && !axes) || (c.has(4) && !steps) || !c.x()->type.shape) return std::nullopt;
  const Shape& shape = *c.x()->type.shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::vector<std::int64_t>&first = *starts, &last = *ends;
  if (steps)
    for (const std::int64_t step : *steps)
      if (step != 1) return std::nullopt;
  std::vector<std::int64_t> pads(2 * shape.size());
  for (std::size_t k = 0; k < first.size(); ++k) {
    std::int64_t axis = axes ? (*axes)[k] : static_cast<std::int64_t>(k);
    if (axis < 0) axis += rank;
    const Dim& dim = shape[static_cast<std::size_t>(axis)];
    if (!dim.is_known()) return std::nullopt;
    const std::int64_t size = dim.value();
    const auto clamped = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
    const std::int64_t begin = clamped(first[k]), end = std::max(begin, clamped(last[k]));
    pads[static_cast<std::size_t>(axis)] = begin;
    pads[static_cast<std::size_t>(axis + rank)] = size - end;
  }
  return pads;
}

Values gradient_slice(GradContext& c) {
  GraphBuilder& g = c.g;
  if (const auto pads = undoing_pads(c)) return {g.op("Pad", {c.dy(), g.ints(*pads)})};
  return {c.back_to_picked(c.x(), c.dy(), [&](Value* places) {
    Values inputs = c.node.inputs();
    inputs[0] = places;
    return g.op("Slice", inputs);
  })};
}

/// Where a slice begins and how many elements it has.
struct Range {
  std::int64_t first, count;
};

Range range_of(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto place = [&](std::int64_t i, std::int64_t least, std::int64_t most) {
    return std::clamp(i < 0 ? i + size : i, least, most);
  };
  if (step > 0) {
    const std::int64_t first = place(start, 0, size), last = place(end, 0, size);
    return {first, last > first ? (last - first - 1) / step + 1 : 0};
  }
  if (size == 0) return {0, 0};
  const std::int64_t first = place(start, 0, size - 1), last = place(end, -1, size - 1);
  return {first, first > last ? (last - first + 1) / step + 1 : 0};
}

void run(KernelContext& c) {
  const Move move = read_slice(c);
  Array& y = c.make(0, c.in(0).dtype(), move.dims);
  gather_walk(move.walk, c.in(0), move.offset, y, c.host().budget());
}

}  // namespace

Move read_slice(KernelContext& c) {
  const Array& x = c.in(0);
  const std::vector<std::int64_t> starts = list_of_ints(c, 1), ends = list_of_ints(c, 2);
  std::vector<std::int64_t> axes, steps(starts.size(), 1);
  for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (c.has(3)) axes = list_of_ints(c, 3);
  if (c.has(4)) steps = list_of_ints(c, 4);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    c.fail("starts, ends, axes and steps differ in length");
  Walk walk{x.dims(), {strides_of(x.dims())}};
  const std::vector<std::size_t> at = distinct_axes(c, axes, x.rank());
  std::int64_t offset = 0;
  for (std::size_t k = 0; k < at.size(); ++k) {
    if (steps[k] == 0) c.fail("a step is 0");
    const std::int64_t size = x.dims()[at[k]];
    // A step beyond the dimension is as good as the dimension itself.
    const std::int64_t most = std::max<std::int64_t>(size, 1), step = std::clamp(steps[k], -most, most);
    const Range range = range_of(size, starts[k], ends[k], step);
    std::int64_t& stride = walk.strides[0][at[k]];
    walk.dims[at[k]] = range.count;
    if (x.size() > 0) {
      offset += range.count > 0 ? range.first * stride : 0;
      stride *= range.count > 1 ? step : 0;
    }
  }
  Dims dims = walk.dims;
  join_axes(walk);
  return {std::move(dims), std::move(walk), offset};
}

constinit const OpDef defs::Slice = {
    .name = "Slice",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
    .gradient = gradient_slice,
};

}  // namespace ingot::ops
