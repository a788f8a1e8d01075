// OneHot: a new axis that is "on" where the index points and "off" elsewhere.
#include <algorithm>

#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/negative_axes.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

bool may_be_negative(const StepContext& c) {
  if (const Tensor* indices = c.constant(0)) {
    if (!is_float(indices->dtype()) && !is_integer(indices->dtype())) return true;
    return std::ranges::any_of(indices->to_doubles(), [](double i) { return i < 0; });
  }
  const DType elem = c.type(0).elem;
  return elem == DType::undefined || is_float(elem) || is_signed_integer(elem);
}

// The depth as a scalar in the element type of the indices.
Value* depth_as_index(StepContext& c, DType elem) {
  if (elem == DType::undefined) c.cannot("the element type of the indices is not known");
  return c.g.reshape(c.g.op("Cast", {c.node.input(1)}, {{"to", elem}}), {});
}

// Before 11 a negative index was out of range; since then it counts from the back. One that is out of range in both:
void up_to_negative_indices(StepContext& c) {
  if (!may_be_negative(c)) return;
  const DType elem = c.type(0).elem;
  Value *indices = c.node.input(0), *depth = depth_as_index(c, elem);
  c.node.set_input(0, c.g.where(c.g.op("Less", {indices, c.g.scalar(0, elem)}), depth, indices));
}

void down_to_no_negative_indices(StepContext& c) {
  if (c.node.attributes.int_or("axis", -1) != -1) count_axes_from_front(c, "axis", 1);
  if (!may_be_negative(c)) return;
  const DType elem = c.type(0).elem;
  Value *indices = c.node.input(0), *depth = depth_as_index(c, elem);
  Value* is_negative = c.g.op("Less", {indices, c.g.scalar(0, elem)});
  c.node.set_input(0, c.g.where(is_negative, c.g.add(indices, depth), indices));
}

constexpr Step kSteps[] = {{.since = 11, .up = up_to_negative_indices, .down = down_to_no_negative_indices}};

void infer(InferContext& c) {
  if (const Shape* depth = c.shape(1); depth && (depth->size() > 1 || !may_equal(product(*depth), 1)))
    c.fail("the depth is not a single number");
  if (const Shape* values = c.shape(2); values && (values->size() != 1 || !may_equal((*values)[0], 2)))
    c.fail("the values are not two");
  const Shape* indices = c.shape(0);
  if (!indices) return;
  Dim depth;
  if (const auto known = c.ints(1); known && known->size() == 1) {
    depth = known->front();
  } else if (const auto number = c.const_doubles(1);
             number && number->size() == 1 && std::abs(number->front()) < 1e15) {
    depth = static_cast<std::int64_t>(number->front());
  }
  if (depth.is_known() && depth.value() < 0) c.fail("the depth is " + depth.str());
  Shape y = *indices;
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{-1}), static_cast<std::int64_t>(y.size()) + 1);
  y.insert(y.begin() + axis, depth.is_unknown() ? c.data_dim(0, axis) : depth);
  c.out_shape(0, std::move(y));
}

// Of the two values only: places are whole numbers.
Values gradient_one_hot(GradContext& c) {
  GraphBuilder& g = c.g;
  const DType elem = c.elem(2);
  if (!is_float(elem)) return {};
  Value* marks = g.cast(g.constant(Tensor::of<float>({2}, {0.0f, 1.0f})), elem);
  Value* mask = g.op("OneHot", {c.x(0), c.x(1), marks}, c.same_attrs({"axis"}));
  Value* on = g.reshape(g.op("ReduceSum", {g.mul(c.dy(), mask)}, {{"keepdims", 0}}), {1});
  Value* all = g.reshape(g.op("ReduceSum", {c.dy()}, {{"keepdims", 0}}), {1});
  Value* off = g.sub(all, on);
  return {nullptr, nullptr, g.concat({off, on}, 0)};
}

void run(KernelContext& c) {
  const Array index = converted(c.in(0), DType::i64, c.host()), count = converted(c.in(1), DType::i64, c.host());
  const Array& values = c.in(2);
  if (count.size() != 1) c.fail("the depth is not a single number");
  if (values.rank() != 1 || values.size() != 2) c.fail("the values are not two");
  const std::int64_t depth = count.data<std::int64_t>()[0];
  if (depth < 0) c.fail("the depth is " + std::to_string(depth));
  Dims dims = index.dims();
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{-1}), index.rank() + 1);
  dims.insert(dims.begin() + axis, depth);
  Array& y = c.make(0, values.dtype(), dims);
  if (y.size() == 0) return;
  const Blocks blocks = blocks_along(dims, axis);
  dispatch_cell(values.dtype(), [&]<class T>() {
    const T off = cells<T>(values)[0], on = cells<T>(values)[1];
    std::fill_n(cells<T>(y), y.size(), off);
    const std::int64_t* next = index.data<std::int64_t>().data();
    for (std::int64_t block = 0; block < blocks.outer; ++block)
      for (std::int64_t i = 0; i < blocks.inner; ++i) {
        const std::int64_t at = *next++;
        if (at < -depth || at >= depth) continue;  // all off
        cells<T>(y)[(block * depth + (at < 0 ? at + depth : at)) * blocks.inner + i] = on;
      }
  });
}

}  // namespace

constinit const OpDef defs::OneHot = {
    .name = "OneHot",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
    .gradient = gradient_one_hot,
};

}  // namespace ingot::ops
