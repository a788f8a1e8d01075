// Split: a tensor cut along an axis into parts of given or of equal sizes.
#include <algorithm>
#include <numeric>

#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/moves.h"
#include "ingot/ops/tensor/negative_axes.h"

namespace ingot::ops {
namespace {

// Split-1 took the sizes as an attribute or, in the type of the data, as an input.
void up_to_attribute(StepContext& c) {
  if (!c.node.attributes.has("axis")) c.node.attributes.set({"axis", 0});
  if (!c.node.input(1)) return;
  const Tensor* sizes = c.constant(1);
  if (!sizes) c.cannot("the sizes of the parts must be constant, but are computed while running");
  std::vector<std::int64_t> split;
  for (const double size : sizes->to_doubles())
    split.push_back(static_cast<std::int64_t>(std::clamp(size, -1.0, 1e18)));
  c.node.attributes.set(Attribute("split", AttrValue(std::move(split))));
  c.node.resize_inputs(1);
}

void up_to_num_outputs(StepContext& c) {
  if (!c.node.input(1))
    c.node.attributes.set(Attribute("num_outputs", AttrValue(static_cast<std::int64_t>(c.node.output_count()))));
}

// Since 18 the last part may be smaller; before, equal parts must be equal and others are given as sizes.
void down_to_sizes(StepContext& c) {
  c.node.attributes.erase("num_outputs");
  const auto count = static_cast<std::int64_t>(c.node.output_count());
  if (c.node.input(1) || count < 1) return;
  Value* x = c.node.input(0);
  const std::int64_t axis = c.node.attributes.int_or("axis", 0);
  std::optional<std::int64_t> size;
  if (const auto rank = c.rank(0); rank && axis >= -*rank && axis < *rank)
    size = (*x->type.shape)[static_cast<std::size_t>(axis < 0 ? axis + *rank : axis)].as_int();
  if (size) {
    if (*size % count == 0) return;
    const std::int64_t part = *size / count + 1;
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(count), part);
    sizes.back() = *size - part * (count - 1);
    if (sizes.back() < 0)
      c.cannot("a dimension of " + std::to_string(*size) + " has no " + std::to_string(count) + " parts");
    c.node.set_input(1, c.g.ints(sizes));
    return;
  }
  // part = (size + count - 1) / count, the last one is size - part * (count - 1)
  Value* whole = c.g.op("Gather", {c.g.shape(x), c.g.ints({axis})}, {{"axis", 0}});
  Value* part = c.g.div(c.g.add(whole, c.g.ints({count - 1})), c.g.ints({count}));
  Values parts(static_cast<std::size_t>(count), part);
  parts.back() = c.g.sub(whole, c.g.mul(part, c.g.ints({count - 1})));
  c.node.set_input(1, c.g.concat(parts, 0));
}

constexpr Step kSteps[] = {
    {.since = 2, .up = up_to_attribute},
    {.since = 11, .down = down_to_axis_from_front},
    {.since = 13,
     .up = [](StepContext& c) { c.attribute_to_input("split", 1); },
     .down = [](StepContext& c) { c.input_to_attribute(1, "split"); }},
    {.since = 18, .up = up_to_num_outputs, .down = down_to_sizes},
};

// The sizes of all parts, as far as known.
std::vector<Dim> part_sizes(InferContext& c, const Dim& whole) {
  const std::size_t count = c.output_count();
  if (c.has(1)) {
    auto sizes = c.ints(1);
    if (!sizes) {
      if (const auto n = c.dim(1, 0).as_int(); n && *n != static_cast<std::int64_t>(count))
        c.fail("there are " + std::to_string(*n) + " sizes for " + std::to_string(count) + " outputs");
      return count == 1 ? std::vector<Dim>{whole} : std::vector<Dim>(count);
    }
    if (sizes->size() != count)
      c.fail("there are " + std::to_string(sizes->size()) + " sizes for " + std::to_string(count) + " outputs");
    for (const Dim& size : *sizes)
      if (size.is_known() && size.value() < 0) c.fail("a part has size " + size.str());
    const Dim sum = std::accumulate(sizes->begin(), sizes->end(), Dim(0));
    if (!may_equal(sum, whole)) c.fail("the parts have " + sum.str() + " of " + whole.str() + " elements");
    return *sizes;
  }
  const std::int64_t wanted = c.attr("num_outputs", static_cast<std::int64_t>(count));
  if (wanted != static_cast<std::int64_t>(count))
    c.fail("num_outputs is " + std::to_string(wanted) + ", but there are " + std::to_string(count) + " outputs");
  const Dim part = ceil_div(whole, wanted);
  std::vector<Dim> sizes(count, part);
  sizes.back() = whole - part * (wanted - 1);
  if (sizes.back().is_known() && sizes.back().value() < 0)
    c.fail("a dimension of " + whole.str() + " has no " + std::to_string(wanted) + " parts");
  return sizes;
}

void infer(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x || c.output_count() == 0) return;
  const auto rank = static_cast<std::int64_t>(x->size());
  const auto axis = static_cast<std::size_t>(c.axis(c.attr("axis", std::int64_t{0}), rank));
  const std::vector<Dim> sizes = part_sizes(c, (*x)[axis]);
  const auto known = c.ints(0);
  std::size_t at = 0;
  bool knows_place = known.has_value();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Shape y = *x;
    y[axis] = sizes[i].is_unknown() && c.has(1) ? c.data_dim(i, static_cast<std::int64_t>(axis)) : sizes[i];
    c.out_shape(i, std::move(y));
    const auto size = sizes[i].as_int();
    knows_place = knows_place && size && static_cast<std::size_t>(*size) <= known->size() - at;
    if (!knows_place) continue;
    const auto from = known->begin() + static_cast<std::ptrdiff_t>(at);
    c.out_ints(i, {from, from + *size});
    at += static_cast<std::size_t>(*size);
  }
}

Values gradient_split(GradContext& c) {
  Values parts;
  for (std::size_t i = 0; i < c.node.output_count(); ++i) {
    if (!c.dy(i)) c.ensure_output(i);
    parts.push_back(c.dy(i) ? c.dy(i) : c.zeros(c.y(i)));
  }
  return {c.g.concat(parts, c.attr("axis", std::int64_t{0}))};
}

void run(KernelContext& c) {
  const Array& x = c.in(0);
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), x.rank());
  if (c.output_count() == 0) return;
  std::int64_t first = 0;
  const std::vector<std::int64_t> sizes = read_split(c, x.dims()[static_cast<std::size_t>(axis)]);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (c.wants(i)) c.set(i, part_of(c, x, axis, first, sizes[i]));
    first += sizes[i];
  }
}

}  // namespace

std::vector<std::int64_t> read_split(KernelContext& c, std::int64_t whole) {
  const auto count = static_cast<std::int64_t>(c.output_count());
  std::vector<std::int64_t> sizes;
  if (c.has(1)) {
    sizes = list_of_ints(c, 1);
    if (static_cast<std::int64_t>(sizes.size()) != count)
      c.fail("there are " + std::to_string(sizes.size()) + " sizes for " + std::to_string(count) + " outputs");
    std::int64_t left = whole;
    for (const std::int64_t size : sizes) {
      if (size < 0 || size > left) c.fail("the sizes of the parts do not fit a dimension of " + std::to_string(whole));
      left -= size;
    }
    if (left != 0) c.fail("the parts leave " + std::to_string(left) + " of " + std::to_string(whole) + " elements");
    return sizes;
  }
  if (c.attr("num_outputs", count) != count) c.fail("num_outputs is not the number of outputs");
  const std::int64_t part = whole / count + (whole % count != 0 ? 1 : 0);
  sizes.assign(c.output_count(), part);
  sizes.back() = whole - part * (count - 1);
  if (sizes.back() < 0)
    c.fail("a dimension of " + std::to_string(whole) + " has no " + std::to_string(count) + " parts");
  return sizes;
}

constinit const OpDef defs::Split = {
    .name = "Split",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
    .gradient = gradient_split,
};

}  // namespace ingot::ops
